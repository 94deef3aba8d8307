"""What runs leave behind, through HTTP, the real state machine and a real worker."""

from e2e.place import Place

WRITES = """echo using password=hunter2
echo '{"closed": 3, "usage": {"input_tokens": 12, "cost_usd": 0.5}}' > "$NIGHTSHIFT_RESULT_FILE" """


def test_a_structured_result_its_figures_and_no_secret_are_in_the_record(place: Place) -> None:
    """SPEC section 8; masked before anything leaves the worker."""
    ada = place.caller()
    place.worker("--allow-shell", "--mask", "[c]losed")
    task = place.create(ada, action={"kind": "shell", "command": WRITES})
    ada.post(f"/api/scheduled-tasks/{task['id']}/trigger")
    result = place.ended(ada, task)["result"]
    assert result == {
        "exit_code": 0,
        "output": "using password=[masked]\n",
        "truncated": False,
        "data": {"[masked]": 3},
        "usage": {"input_tokens": 12, "cost_usd": 0.5},
    }
