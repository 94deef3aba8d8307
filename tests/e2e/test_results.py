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


def test_output_that_a_record_cannot_hold_is_kept_whole_and_masked_in_the_bucket(
    place: Place,
) -> None:
    """K8: the record has both ends of it and says where the rest is."""
    ada = place.caller("ada/1")
    bucket = place.cloud.outputs["OutputBucketName"]
    place.worker("--allow-shell")
    command = "echo password=hunter2; seq 1 100000; echo the end"
    task = place.create(ada, action={"kind": "shell", "command": command})
    ada.post(f"/api/scheduled-tasks/{task['id']}/trigger")
    run = place.ended(ada, task)
    assert run["result"]["truncated"]
    name = f"ada%2F1/{task['id']}/{run['id']}/attempt-1.txt"
    assert run["result"]["output_url"] == f"s3://{bucket}/{name}"
    kept = place.cloud.client("s3").get_object(Bucket=bucket, Key=name)["Body"].read().decode()
    counted = "".join(f"{number}\n" for number in range(1, 100001))
    assert kept == f"password=[masked]\n{counted}the end\n"
