"""The ops of a run: which make NaN, infinities or saturate, and since when."""

from panels import (GREEN, GREY, INCIDENTS, JOBS, ORANGE, PAGE, RED, RUNS,
                    RUN_PAGE, board, lines, now, q, ranking, stat, steps, table)

TOP = ("and on (op) topk({n}, sum by (op) (increase("
       "nanwatch_op_bad_statuses_total{{RUN}}[$__range] @ end())))")
RATE = ("sum by (op) (rate(nanwatch_op_bad_statuses_total{RUN}"
        "[$__rate_interval]))")
ALERTS = ("NanwatchOpOverflow",)

FIRST = (4, [
    stat("Worst op", now("topk(1, sum by (op) "
                         "(nanwatch_op_bad_statuses_total{RUN}))", "{{op}}"),
         "none",
         "The op with most bad statuses in this attempt.",
         "none.",
         "It is seen most often; what began it stands in the diagnosis of the "
         "*nanwatch page*: an op behind it may only pass the NaN on.",
         width=9, names="only", none="none", thresholds=steps(ORANGE),
         alerts=ALERTS),
    stat("Ops that were bad", now("count(sum by (op) "
                                  "(nanwatch_op_bad_statuses_total{RUN}) > 0) or "
                                  "vector(0)"), "none",
         "Ops with at least one bad status, as far as they are named here: the "
         "10 worst, or 50 with `metrics: {cardinality: full}`.",
         "0, or those that are meant to be so.",
         "One: its inputs, its dtype or its padding. Many: a NaN travels.",
         width=3, thresholds=steps(GREEN, (1, ORANGE)), alerts=ALERTS),
    stat("Bad statuses a second", now(
        "sum(rate(nanwatch_op_bad_statuses_total{RUN}[$__rate_interval])) or "
        "vector(0)"), "short",
         "How often any named op is bad just now.",
         "0.",
         "It goes on. If updates are applied all the same, see *Run*.",
         decimals=1, thresholds=steps(GREEN, (0.001, ORANGE)), alerts=ALERTS),
    stat("Last bad step was", now(
        "max(nanwatch_last_step{RUN}) - "
        "max(nanwatch_op_last_bad_step{RUN})"), "suffix: steps ago",
         "Steps since any op was bad.",
         "Many, or never.",
         "0: now.", decimals=0, none="never, or not exported",
         thresholds=steps(RED, (10, ORANGE), (1000, GREEN))),
    stat("Of ops not named", now("max(nanwatch_op_other_bad_statuses{RUN})"),
         "none",
         "Bad statuses of the ops beyond those that have a name here.",
         "0.",
         "High: `nanwatch show RUN` lists more, or export more names with "
         "`metrics: {cardinality: full}`.",
         decimals=0, none="none", thresholds=steps(GREY), alerts=ALERTS),
])

OVER_TIME = (10, [
    lines("Top offenders over time",
          q(f"{RATE} {TOP.format(n=10)}", "{{op}}"), "short",
          "Bad statuses a second of the ten worst ops of the time shown, "
          "stacked.",
          "Empty; single bars beside an overflow of the loss scale.",
          "The op that came first is the suspect. One band that never ends: it "
          "overflows at every step whatever the scale, such as a Log over "
          "padding.",
          stack=True, bars=True, bottom=0, width=16, none="none was bad",
          alerts=ALERTS),
    ranking("Most often bad", now("topk(12, sum by (op) "
                                  "(nanwatch_op_bad_statuses_total{RUN}))",
                                  "{{op}}"), "locale",
            "Bad statuses of this attempt.",
            "Empty.", "As beside it.", none="none", bottom=0,
            thresholds=steps(ORANGE), alerts=ALERTS),
])

HOW = (9, [
    lines("Bad elements in the newest bad status",
          q(f"max by (op) (nanwatch_op_bad_elements{{RUN}}) {TOP.format(n=10)}",
            "{{op}}"), "locale",
          "How many elements of the op's tensor were bad when it was bad last "
          "(cardinality: full), on a logarithmic axis.",
          "None.",
          "Always the same count: padding or a mask. One, then all: a NaN "
          "spreads. Growing: a value leaves the range of its dtype.",
          log=10, width=12, none="none was bad", alerts=ALERTS),
    lines("Op statuses a second", [
        q("sum by (run_id) (rate(nanwatch_op_statuses_total{RUN}"
          "[$__rate_interval]))", "all that came"),
        q("sum by (run_id) (rate(nanwatch_op_bad_statuses_total{RUN}"
          "[$__rate_interval]))", "bad ones of named ops"),
    ], "short",
        "What is observed, and how much of it is bad.",
        "Level; the lower at 0.",
        "0: no op is observed, so only the loss scale says anything of "
        "overflows. Both equal: each observation is bad.",
        width=12, bottom=0, alerts=ALERTS),
])

TABLE = (9, [
    table("Ops", {
        "op": (None, {}),
        "bad statuses": ("sum by (op) (nanwatch_op_bad_statuses_total{RUN})",
                         {"unit": "locale"}),
        "bad elements, newest": ("max by (op) (nanwatch_op_bad_elements{RUN})",
                                 {"unit": "locale"}),
        "last bad step": ("max by (op) (nanwatch_op_last_bad_step{RUN})",
                          {"unit": "locale"}),
        "steps ago": ("max(nanwatch_last_step{RUN}) - on () group_right () "
                      "max by (op) (nanwatch_op_last_bad_step{RUN})",
                      {"unit": "locale"}),
    },
        "Each op that has a name here; the last columns with `metrics: "
        "{cardinality: full}`.",
        "Empty.",
        "`nanwatch diagnose RUN` says which of these began it, and why.",
        sort="bad statuses", alerts=ALERTS),
])

BOARD = board(
    "nanwatch-ops", "Ops", "The worst ops of a run, over time.",
    [JOBS, RUNS, PAGE], [FIRST, OVER_TIME, HOW, TABLE],
    links=[RUN_PAGE], annotations=INCIDENTS)
