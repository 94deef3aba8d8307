"""`nightshift cost`: what runs and idle months cost, by measured units and public prices."""

import click

from nightshift_toolkit.cli.values import FiniteRange
from nightshift_toolkit.costs import prices
from nightshift_toolkit.costs.bill import (
    as_table,
    bill_of_an_idle_month,
    bill_of_requests,
    bill_of_runs,
    unseen,
)

DEPLOYED_ALARMS = 27
DEPLOYED_METRICS = 30
"""No less than `template.yaml` and the functions bring, and not much more; a test counts them."""


@click.command()
@click.option("--runs", type=click.IntRange(1), default=prices.MILLION, show_default=True)
@click.option("--minutes", type=FiniteRange(0, 1_440), default=1.0, show_default=True)
@click.option("--workers", type=click.IntRange(0), default=1, show_default=True)
def command(runs: int, minutes: float, workers: int) -> None:
    """Say what runs of some minutes cost, and a month in which nothing runs.

    List prices of one region without free tiers, discounts and taxes; not the workers' machines
    and not what the agents themselves cost.
    """
    idle = bill_of_an_idle_month(alarms=DEPLOYED_ALARMS, metrics=DEPLOYED_METRICS, workers=workers)
    tables = [
        as_table(f"{runs:,} runs of {minutes:g} min", bill_of_runs(runs, minutes)),
        as_table(f"{runs:,} of them triggered by hand", bill_of_requests(runs)),
        as_table("a month in which nothing runs", idle),
    ]
    click.echo("\n\n".join(tables))
    click.echo(f"\nPrices of {prices.REGION} as of {prices.AS_OF}, from memory and not looked up:")
    click.echo(f"{', '.join(unseen())}.")
