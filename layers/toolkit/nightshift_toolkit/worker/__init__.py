"""The worker: takes runs from the queue, does their work, reports how they ended (SPEC section 8).

One run's way through this package: `service` receives its message when a place is free, `work` wins
it (`pickups`), keeps it alive (`lifeline`), starts its command under a warden (`supervision`,
`warden`) and hands in the report (`report`). `ports` says what queue, table and workflow must do;
`aws` does it.
"""
