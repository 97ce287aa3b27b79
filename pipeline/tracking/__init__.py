"""Recording a sweep in MLflow: one run a sweep, one child run a point.

Rules
-----
1. MLflow costs no result: whatever goes wrong here is one line for the user, and an unreachable server is given up within seconds.
2. Nothing global changes: an explicit client, no active run, no autologging; environment variables and loggers are put back.
   MLflow's telemetry is off from before its import, so nothing leaves the machine except to the server that was asked for.
3. One run a directory and store (the manifest's `mlflow_runs`). A directory that grew updates its run; MLflow's params cannot
   change, so a param that would is written again as a tag of its name. A point that ran again gets a new child; the old one is
   deleted. What was only begun, by a process that was killed, by a server that was lost or by `pipeline.live` while the sweep
   ran, is completed, not done again.
4. Only finite numbers are metrics. Others are left out, counted and mentioned.

MLflow is imported inside functions: it costs seconds.
"""
