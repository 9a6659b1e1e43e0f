"""One run: is it sick, since when, and with what."""

from panels import (BY_SEVERITY, CONDITION, GREEN, GREY, INCIDENTS, JOBS, ORANGE, PAGE,
                    RED, RUNS, RUN_PAGE, RUNBOOKS, SEVERITY, board, color, dashed, lines,
                    link, marks, now, q, ranking, series, stat, steps, table, timeline)

CONDITIONS = {"scale": "NanwatchLossScale", "loss": "NanwatchLoss",
              "weight": "NanwatchWeights", "op": "NanwatchOpOverflow",
              "gradient": "NanwatchGradients", "fp8": "NanwatchFp8",
              "rank": "NanwatchRanksDisagree",
              "benchmark": "NanwatchBenchLossDivergence", "telemetry": "NanwatchTelemetry"}
OVERFLOWED = ("and on (run_id) (sum by (run_id) (increase("
              "nanwatch_overflow_steps_total{RUN}[$__rate_interval])) > 0)")


def of_steps(counter):
    """The share of step records that `counter` counts."""
    return (f"sum by (run_id) (rate({counter}{{RUN}}[$__rate_interval])) / "
            "(sum by (run_id) (rate(nanwatch_steps_total{RUN}"
            "[$__rate_interval])) > 0)")


def newest(metric):
    return f"max by (run_id) ({metric}{{RUN}})"


FIRST = (4, [
    stat("Verdict", now("max(nanwatch_run_severity{RUN})"), "none",
         "The worst incident that fires now, as nanwatch judges it.",
         "healthy, or a note (something harmless that is worth knowing).",
         "The tiles beside it name what is sick; the *nanwatch page* above says "
         "why and what to do, as does `nanwatch diagnose RUN`. No such run: it "
         "ended more than five minutes ago (`nanwatch show RUN` still knows it), "
         "or the variables above name another.",
         width=4, filled=True, texts=SEVERITY, none="no such run",
         links=[RUN_PAGE],
         thresholds=BY_SEVERITY,
         alerts=("NanwatchPushWorks",)),
    stat("What is sick", now("max by (condition) (nanwatch_condition_severity{RUN})",
                             "{{condition}}"), "none",
         "A tile for each family of conditions; a click opens its runbook.",
         "Nothing is found in any. So it is of what a run does not collect: its "
         "panels below have no data then.",
         "Read the runbook of the family that is not green: each says what it "
         "means and what to change, by framework.",
         width=8, filled=True, names=True, texts=CONDITION,
         overrides=[series(family, links=[link(
             f"Runbook: {alert}", f"{RUNBOOKS}/{alert}.md")])
             for family, alert in CONDITIONS.items()],
         thresholds=BY_SEVERITY,
         alerts=CONDITIONS.values()),
    stat("Updates applied",
         now("sum(rate(nanwatch_optimizer_updates_total{RUN}[$__rate_interval])) / "
             "sum(rate(nanwatch_optimizer_attempts_total{RUN}[$__rate_interval]) "
             "> 0)"), "percentunit",
         "Of the updates just now, how many were applied.",
         "Above 95 %: a dynamic scaler skips one in some hundreds to try a "
         "higher scale.",
         "Near 0 %: nothing is learned any more. See *Overflows and skipped "
         "steps* and what is sick. Not said: nothing tells whether updates are "
         "applied.",
         width=3, decimals=1, bottom=0, top=1, none="not said",
         thresholds=steps(RED, (0.5, ORANGE), (0.95, GREEN))),
    stat("Step", now("max(nanwatch_last_step{RUN})"), "locale",
         "The largest step of any rank.",
         "It rises.",
         "It stands still: see *Steps a second* and *Silent for*. The links of "
         "alerts and incidents name steps by this number.",
         width=3, decimals=0, none="none yet", thresholds=steps(GREY)),
    stat("Silent for",
         now("time() - max(nanwatch_last_record_timestamp_seconds{RUN})"), "s",
         "How long ago the newest record was made.",
         "Below the time of some steps; minutes while it evaluates or writes a "
         "checkpoint.",
         "The training hangs, was killed, or cannot reach the daemon: look at "
         "its log, then at the ranks.",
         width=3, decimals=0, none="none yet",
         thresholds=steps(GREEN, (120, ORANGE), (600, RED))),
    stat("Incidents",
         now('sum(nanwatch_run_incidents{RUN, state="firing"})'), "none",
         "Incidents that fire just now, notes among them.",
         "0, or a note.",
         "The *nanwatch page* lists them with step, rank, op and evidence.",
         width=3, decimals=0, none="no such run",
         thresholds=steps(GREEN, (1, ORANGE))),
])

SCALE_AND_LOSS = (9, [
    lines("Loss scale", [
        q(newest("nanwatch_loss_scale"), "loss scale"),
        q(f"{newest('nanwatch_loss_scale')} {OVERFLOWED}", "overflow"),
        q(f"{newest('nanwatch_scaler_floor')} > 0", "the scaler's floor"),
        q(newest("nanwatch_layer_scale_lowest"), "a layer's, lowest"),
        q(newest("nanwatch_layer_scale_highest"), "a layer's, highest"),
    ], "none",
        "The loss scale on a logarithmic axis; red points: steps overflowed "
        "since the last point. Dashed: the smallest scale that the scaler "
        "reaches. Where layers have scales of their own: the lowest and the "
        "highest. A scale of 0 is not drawn.",
        "A staircase: up by 2 each some hundreds or thousands of steps, down by 2 "
        "with one red point. A run that begins falls some steps long.",
        "Falling with red points in a row: something overflows at every scale; "
        "find the op. Flat on the dashed line: updates are lost. Rising for "
        "ever: gradients are tiny. Constant: a static scale.",
        width=12, log=2, overrides=[marks("overflow"),
                                    dashed("the scaler's floor")],
        alerts=("NanwatchLossScale",)),
    lines("Loss", [
        q(newest("nanwatch_loss"), "loss"),
        q(f"{newest('nanwatch_loss')} and on (run_id) (sum by (run_id) (increase("
          'nanwatch_nonfinite_values_total{RUN, field="loss"}'
          "[$__rate_interval])) > 0)", "NaN or Inf (at the last finite one)"),
    ], "none",
        "The newest finite loss of the run; red points: it was NaN or infinite "
        "since the last point.",
        "Falls, and slower with time; noise of some per cent.",
        "A jump that does not come back: restart from before it. Points with "
        "the overflow's: harmless where the step was skipped. Points without: "
        "the weights are in danger; see *Values that were NaN or infinite*.",
        width=12, overrides=[marks("NaN or Inf (at the last finite one)")],
        alerts=("NanwatchLoss",)),
])

RATES = (8, [
    lines("Overflows and skipped steps", [
        q(of_steps("nanwatch_overflow_steps_total"), "overflowed"),
        q(of_steps("nanwatch_skipped_steps_total"), "skipped"),
    ], "percentunit",
        "Of the step records of all ranks, the share that overflowed and the "
        "share whose update was not applied.",
        "Below 1 %, in single peaks; more in the first hundred steps, while the "
        "scaler looks for a scale.",
        "100 %: no update is applied. Overflowed without skipped: the updates "
        "of bad gradients are applied, which only a run without a scaler may. "
        "Missing: neither is collected.",
        fill=20, bottom=0, top=1, overrides=[
            series("overflowed", color=color(RED)),
            series("skipped", color=color(ORANGE), custom_fillOpacity=0)],
        alerts=("NanwatchLossScale", "NanwatchOpOverflow")),
    lines("Norms", [
        q(newest("nanwatch_grad_norm"), "gradients"),
        q(newest("nanwatch_applied_grad_norm"), "gradients, as applied"),
        q(newest("nanwatch_update_norm"), "update"),
        q(newest("nanwatch_param_norm"), "weights"),
    ], "none",
        "Norms of the gradients (unscaled, before clipping), of those that the "
        "optimizer got, of the update and of the weights, on a logarithmic "
        "axis.",
        "Each stays within a factor of ten; the weights' rises slowly. Some are "
        "not collected.",
        "Gradients rise by tens for many steps: the run explodes; lower the "
        "learning rate or clip. They fall to nothing: see *Gradient elements "
        "that are zero*. The update nears the weights: the learning rate is far "
        "too high.",
        log=10, alerts=("NanwatchGradients", "NanwatchWeights")),
    lines("Headroom in bits", [
        q(f"log2(65504 / ({newest('nanwatch_loss_scale')} * on (run_id) "
          f"{newest('nanwatch_grad_norm')})) unless on (run_id) "
          'nanwatch_run_info{RUN, precision=~"bf16|fp32|fp64|tf32"}',
          "scaled gradients below fp16's largest number, at least"),
        q(f"log2({newest('nanwatch_loss_scale')} / on (run_id) "
          f"({newest('nanwatch_scaler_floor')} > 0))",
          "loss scale above the scaler's floor"),
    ], "none",
        "How many doublings fit. Upper limit: no element is larger than the "
        "norm, so the scaled gradients are at least so many bits below 65504. "
        "Lower limit: so many halvings are left to the scaler.",
        "The second well above 0. The first level, wherever it is: it is low in "
        "large models, whose norm is of many elements, and moves by 1 with each "
        "step of the scale.",
        "The first falls by bits and overflows begin: gradients have become "
        "large. The second at 0: the scaler has nothing left to give. A scaler "
        "without a floor (PyTorch's) has no second line.",
        bottom=None, limit=steps(RED, (0, "transparent")),
        alerts=("NanwatchGradients", "NanwatchLossScale")),
])

WHAT = (7, [
    timeline("What was sick when", [
        q("max by (condition) (nanwatch_condition_severity{RUN})",
          "{{condition}}"),
        q("max by (condition) (nanwatch_condition_severity{RUN} > "
          "nanwatch_condition_unmuted_severity{RUN})", "{{condition}}, muted")],
        "The worst incident of each family of conditions over time.",
        "Green throughout; blue is a note.",
        "The row that turned first is mostly the cause, the others what "
        "followed. An incident stays for 45 s at least. What somebody muted has "
        "a row of its own and raises no alert.",
        width=16, texts=CONDITION, alerts=CONDITIONS.values()),
    ranking("Worst ops", now("topk(8, sum by (op) "
                             "(nanwatch_op_bad_statuses_total{RUN}))", "{{op}}"),
            "none",
            "Ops by how often they had a bad element (NaN, infinite, saturated) "
            "or a device flag.",
            "Empty, or ops that are meant to be so, such as a mask of -Inf.",
            "Open *nanwatch / Ops* for when each was; the page's diagnosis names "
            "the one that began it.",
            none="none", thresholds=steps(ORANGE), bottom=0,
            alerts=("NanwatchOpOverflow",)),
])

BENCHMARK = (7, [
    lines("Loss and its benchmark", [
        q(newest("nanwatch_loss"), "loss"),
        q(newest("nanwatch_benchmark_loss"),
          "benchmark, mean of the newest steps that both have"),
    ], "none",
        "The newest finite loss of the run, and the benchmark's at the same steps.",
        "Together, but for the noise of single steps.",
        "They part: `nanwatch compare` of the two says in which setting and in "
        "which tensor. No benchmark: `nanwatch bench set RUN --to OTHER` names one.",
        width=12, none="no benchmark",
        alerts=("NanwatchBenchLossDivergence",)),
    stat("Steps compared a second", now(
        "sum by (run_id) (rate(nanwatch_benchmark_steps_total{RUN}"
        "[$__rate_interval]))"), "short",
         "Steps at which both had a loss, a second.",
         "As many as the run has, or as the benchmark has points.",
         "0: the benchmark has ended, or its steps are numbered otherwise.",
         width=4, none="no benchmark",
         alerts=("NanwatchBenchLossDivergence",)),
    lines("Loss above its benchmark", q(
        newest("nanwatch_benchmark_loss_difference_ratio"), "above"),
          "percentunit",
          "How far the mean of the run's newest losses lies above the "
          "benchmark's, as a share of it; below 0: under it.",
          "About 0: less than 0.1 % where both train on the same batches, some "
          "per cent where they do not.",
          "It leaves 0 at once: something was changed at that step. Slowly: "
          "the learning rate, the data or an op.",
          width=8, none="no benchmark",
          alerts=("NanwatchBenchLossDivergence",)),
])

BEGAN = (5, [
    table("Where it began", {
        "sick with": (None, {}),
        "step": ("min by (condition) (nanwatch_condition_origin_step{RUN})",
                 {"unit": "locale", "links": [link(
                     "nanwatch page at this step", "http://${instance}/"
                     "?run=${run_id:percentencode}&step=${__value.raw}")]}),
        "rank": ("min by (condition) (nanwatch_condition_origin_rank{RUN})",
                 {"unit": "none", "decimals": 0}),
        "op": (None, {}), "node": (None, {}),
        "ops": ("max by (condition, op) (nanwatch_condition_origin_info{RUN})",
                None),
        "nodes": ("max by (condition, node_name) "
                  "(nanwatch_condition_origin_pod_info{RUN})", None),
    },
        "Of each family that fires and that nobody muted: the step, rank, op "
        "and, in Kubernetes, node of the first finding. Alerts name the same.",
        "Empty.",
        "Resume from a checkpoint before it. No rank or op: it is of the run.",
        labels={"condition": "sick with", "node_name": "node"}, none="none",
        alerts=CONDITIONS.values()),
])

SCALER = (7, [
    stat("The scaler", [
        now(newest("nanwatch_loss_scale"), "loss scale"),
        now(newest("nanwatch_scaler_floor"), "its floor"),
        now(newest("nanwatch_scaler_attempts_to_floor"),
            "updates until the floor"),
        now(newest("nanwatch_scaler_impossible_transitions_total"),
            "changes it cannot make"),
        now(newest("nanwatch_layers_outside"),
            "layers whose scale does not suit"),
    ], "sishort",
        "The scaler as nanwatch models it.",
        "No updates until the floor (the scale does not fall), and no change "
        "that this scaler cannot make.",
        "Few updates left: act before the floor. Changes that it cannot make: "
        "another scaler than declared, a restart, or two optimizers that are "
        "reported as one. Layers whose scale does not suit: `nanwatch layers "
        "RUN --scales` names them.",
        names=True, width=6, thresholds=steps(GREY),
        overrides=[
            series("updates until the floor", thresholds=steps(
                RED, (50, ORANGE), (1000, GREEN))),
            series("changes it cannot make", thresholds=steps(
                GREEN, (1, ORANGE)))],
        none="not known", alerts=("NanwatchLossScale",)),
    lines("Gradient elements that are zero", [
        q(newest("nanwatch_grad_zero_ratio"), "zero"),
        q(newest("nanwatch_grad_underflow_ratio"), "underflowed"),
    ], "percentunit",
        "Shares of the gradients' elements that are zero, and that became zero "
        "or subnormal by the format.",
        "Level. Sparse models (embeddings, ReLU) have many zeros from the "
        "beginning.",
        "A rise while the loss scale falls: gradients are lost to underflow; "
        "raise the scale's floor or use bf16. A rise at once and at the same "
        "scale: a layer was frozen.",
        width=6, bottom=0, alerts=("NanwatchGradients",)),
    lines("Values that were NaN or infinite", [
        q("sum by (field) (increase(nanwatch_nonfinite_values_total{RUN}"
          "[$__rate_interval])) > 0", "{{field}}"),
        q("sum by (field) (nanwatch_value_nonfinite{RUN}) > 0",
          "{{field}}, and the newest one still is"),
    ], "none",
        "How many values of each field were not finite, by field; points: the "
        "newest one is not.",
        "Nothing, or grad_norm in single bars with an overflow.",
        "loss: the forward pass makes it. grad_norm alone: the backward pass. "
        "param_norm: the weights are lost; go back to a checkpoint.",
        width=6, bars=True, bottom=0, none="none", overrides=[{
            "matcher": {"id": "byFrameRefID", "options": "B"},
            "properties": [
                {"id": "custom.drawStyle", "value": "points"},
                {"id": "custom.showPoints", "value": "always"},
                {"id": "custom.pointSize", "value": 7}]}],
        alerts=("NanwatchLoss", "NanwatchWeights")),
    lines("Learning rate", q(newest("nanwatch_learning_rate"), "learning rate"),
          "none",
          "As the training says it.",
          "Its schedule: warm-up, then falling.",
          "It moves on while updates are skipped: the schedule is stepped where "
          "the optimizer is not. Beside a jump of the loss: the warm-up is too "
          "steep.", width=6, bottom=0, alerts=("NanwatchWeights",)),
])

PROGRESS = (7, [
    lines("Steps a second", [
        q("sum by (run_id) (rate(nanwatch_optimizer_attempts_total{RUN}"
          "[$__rate_interval]))", "updates, applied or skipped"),
        q("sum by (run_id) (rate(nanwatch_optimizer_updates_total{RUN}"
          "[$__rate_interval]))", "of them applied"),
    ], "short",
        "How fast the run steps, and how much of it counts.",
        "Level, both equal, with gaps for evaluation and checkpoints.",
        "0: it hangs. The lower falls alone: updates are skipped.",
        width=6, bottom=0, alerts=("NanwatchTelemetry",)),
    lines("Consumed samples", q(newest("nanwatch_consumed_samples"),
                                "samples"), "short",
          "As the training counts them.",
          "A straight line.",
          "A step back: it resumed from a checkpoint, or data come again.",
          width=6, bottom=0),
    lines("Records a second", [
        q("sum by (run_id) (rate(nanwatch_steps_total{RUN}[$__rate_interval]))",
          "steps of all ranks"),
        q("sum by (run_id) (rate(nanwatch_op_statuses_total{RUN}"
          "[$__rate_interval]))", "op statuses"),
        q("sum by (kind) (rate(nanwatch_dropped_records_total{RUN}"
          "[$__rate_interval])) > 0", "dropped: {{kind}}"),
    ], "short",
        "What comes in, and what clients had to drop since their buffer was full.",
        "Level; no line of dropped records.",
        "Dropped: the daemon is down, busy or out of reach; what was dropped is "
        "not judged. See *nanwatch / Daemon*.",
        width=6, bottom=0, alerts=("NanwatchRecordsDropped",
                                   "NanwatchTelemetry")),
    lines("Ranks", [
        q("sum by (state) (nanwatch_ranks{RUN})", "{{state}}"),
        q(newest("nanwatch_world_size"), "that the run says it has"),
    ], "none",
        "Ranks that are watched, that broke off, and that the run says it has.",
        "All open, none lost. A run of which only rank 0 reports has 1 open.",
        "Lost: the process died or lost its connection; see *nanwatch / Ranks*.",
        width=6, bottom=0, decimals=0,
        overrides=[dashed("that the run says it has")],
        alerts=("NanwatchRanksMissing",)),
])

ABOUT = (4, [
    table("The run", {
        "daemon": (None, {}),
        "attempt": (None, {}),
        "job of the run": (None, {}),
        "labels": ("max by (instance, attempt, user, job_name, framework, precision, "
                   "overflow_mode, scaler) (nanwatch_run_info{RUN})", None),
        "opened": ("max by (instance) (nanwatch_run_opened_timestamp_seconds"
                   "{RUN}) * 1000", {"unit": "dateTimeFromNow"}),
        "judged since step": ("max by (instance) "
                              "(nanwatch_judged_since_step{RUN})",
                              {"unit": "locale"}),
        "asked to stop": ("max by (instance) (nanwatch_stop_requested{RUN})",
                          {"mappings": [{"type": "value", "options": {
                              "0": {"text": "no", "index": 0},
                              "1": {"text": "yes", "color": ORANGE,
                                    "index": 1}}}]}),
        "incidents so far": ("sum by (instance) "
                             "(nanwatch_condition_detections_total{RUN})", {}),
    },
        "What the run says of itself; a row a daemon that watches a part of it.",
        "One attempt; judged since its first step.",
        "A higher attempt: it was restarted. Judged since a later step: the "
        "daemon had no history of what was before. Compare precision and scaler "
        "with what you meant.",
        sort="opened",
        labels={"instance": "daemon", "user": "owner", "job_name": "job of the run",
                "overflow_mode": "overflow mode"}),
])

BOARD = board(
    "nanwatch-run", "Run", "One training run: verdict, loss scale, loss, norms.",
    [JOBS, RUNS, PAGE],
    [FIRST, SCALE_AND_LOSS, RATES, WHAT, BEGAN, "Benchmark", BENCHMARK,
     "Scaler and gradients", SCALER, "Progress and records", PROGRESS, "What it is", ABOUT],
    links=[RUN_PAGE], annotations=INCIDENTS, refresh="10s")
