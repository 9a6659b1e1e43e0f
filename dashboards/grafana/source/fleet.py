"""All runs: which are sick, worst first."""

from panels import (BY_SEVERITY, CALM, GREEN, GREY, JOBS, ORANGE, RED, RUN_LINK, SEVERITY,
                    board, lines, mapping, now, q, stat, steps, table, timeline)

RUNS_WITH = ("count(max by (run_id) (nanwatch_run_severity{{JOB}}) == {0}) "
             "or vector(0)")
OPEN = 'on (run_id) (sum by (run_id) (nanwatch_ranks{JOB, state="open"}) > 0)'
COLOURED = {"custom_cellOptions": {"type": "color-background",
                                   "mode": "basic"}}
DAEMON_PAGE = {
    "title": "nanwatch page", "targetBlank": True,
    "url": "http://${__value.text}/?run=${__data.fields.run:percentencode}"}
WORST = ("and on (run_id) topk(25, max by (run_id) (max_over_time("
         "nanwatch_run_severity{JOB}[$__range] @ end())))")

FIRST = (4, [
    stat("Critical", now(RUNS_WITH.format(3)), "none",
         "Runs that learn nothing any more, or soon lose what they learned.",
         "0.",
         "They stand first in the table below: open each; its first row names "
         "what is sick.",
         filled=True, thresholds=steps(GREEN, (1, RED))),
    stat("Warning", now(RUNS_WITH.format(2)), "none",
         "Runs with something that a person should look at in working hours.",
         "0, or few.",
         "Open them from the table below.",
         filled=True, thresholds=steps(GREEN, (1, ORANGE))),
    stat("Healthy", now("count(max by (run_id) (nanwatch_run_severity{JOB}) < 2) "
                        "or vector(0)"), "none",
         "Runs without an incident, or with a note only; runs that ended count "
         "for five minutes more.",
         "As many as you train.",
         "Too few: runs ended, or their daemon is not scraped.",
         thresholds=steps(GREY, (1, GREEN))),
    stat("Silent for 10 minutes",
         now("count((time() - max by (run_id) "
             f"(nanwatch_last_record_timestamp_seconds{{JOB}}) > 600) and {OPEN})"
             " or vector(0)"), "none",
         "Runs with open ranks of which no record came for ten minutes.",
         "0.",
         "The training hangs, or cannot reach its daemon: sort the table by "
         "*silent for*.",
         filled=True, thresholds=steps(GREEN, (1, ORANGE)),
         alerts=("NanwatchTelemetry",)),
    stat("Ranks lost", now('sum(nanwatch_ranks{JOB, state="lost"}) or vector(0)'),
         "none",
         "Ranks of all runs whose stream broke off without a close.",
         "0.",
         "Processes died or lost their connection; *nanwatch / Ranks* says "
         "which.", filled=True, thresholds=steps(GREEN, (1, ORANGE)),
         alerts=("NanwatchRanksMissing",)),
    stat("Daemons down", now("count(up{JOB} == 0) or vector(0)"), "none",
         "nanwatchds that cannot be scraped.",
         "0.",
         "The runs of these are not on this dashboard, and raise no alerts "
         "through the rules: *nanwatch / Daemon*.",
         filled=True, thresholds=steps(GREEN, (1, RED)),
         alerts=("NanwatchDaemonDown", "NanwatchAbsent")),
])

TABLE = (11, [
    table("Runs, worst first", {
        "health": ("max by (run_id, instance) (topk by (run_id) "
                   "(1, nanwatch_run_severity{JOB}))",
                   {"mappings": mapping(SEVERITY), **COLOURED,
                    "custom_width": 110,
                    "thresholds": BY_SEVERITY}),
        "run": (None, {"links": [RUN_LINK]}),
        "sick with": (None, {}),
        "condition": ("max by (run_id, condition) (topk by (run_id) "
                      "(1, nanwatch_condition_severity{JOB} > 0))", None),
        "applied": ("sum by (run_id) (rate(nanwatch_optimizer_updates_total{JOB}"
                    "[$__rate_interval])) / sum by (run_id) (rate("
                    "nanwatch_optimizer_attempts_total{JOB}[$__rate_interval]) "
                    "> 0)",
                    {"unit": "percentunit", "decimals": 0, **COLOURED,
                     "thresholds": steps(RED, (0.5, ORANGE), (0.95, CALM))}),
        "loss": ("max by (run_id) (nanwatch_loss{JOB})", {"decimals": 3}),
        "loss scale": ("max by (run_id) (nanwatch_loss_scale{JOB})",
                       {"unit": "none"}),
        "step": ("max by (run_id) (nanwatch_last_step{JOB})",
                 {"unit": "locale"}),
        "silent for": ("time() - max by (run_id) "
                       "(nanwatch_last_record_timestamp_seconds{JOB})",
                       {"unit": "s", "decimals": 0}),
        "ranks": ('sum by (run_id) (nanwatch_ranks{JOB, state="open"})', {}),
        "labels": ("max by (run_id, attempt, job_name, framework, precision) "
                   "(nanwatch_run_info{JOB})", None),
        "daemon": (None, {"links": [DAEMON_PAGE]}),
    },
        "A row a run: its newest attempt. *sick with* is its worst family of "
        "conditions; *applied*: the share of updates that changed the weights.",
        "Green rows.",
        "Click a run for its dashboard, a daemon for the page with the cause in "
        "a sentence and what to do.",
        sort="health",
        labels={"run_id": "run", "condition": "sick with", "instance": "daemon",
                "job_name": "job of the run"}),
])

OVER_TIME = (10, [
    timeline("Health over time",
             q(f"max by (run_id) (nanwatch_run_severity{{JOB}}) {WORST}",
               "{{run_id}}"),
             "The 25 sickest runs of the time shown.",
             "Green throughout.",
             "Many turn at once: what they share (a node, a file system, a new "
             "image) is the cause. One: open it.", width=24),
])

SHARED = (8, [
    lines("Runs by what they are sick with",
          q("count by (condition) (max by (run_id, condition) "
            "(nanwatch_condition_severity{JOB}) >= 2)", "{{condition}}"), "none",
          "Runs with a warning or critical, by family of conditions.",
          "Empty, or a thin stack.",
          "One family rises over many runs: a new version of framework, data or "
          "configuration.",
          stack=True, fill=60, bottom=0, decimals=0, none="none is sick"),
    lines("Updates that are lost",
          q("topk(10, 1 - sum by (run_id) (rate("
            "nanwatch_optimizer_updates_total{JOB}[$__rate_interval])) / "
            "(sum by (run_id) (rate(nanwatch_optimizer_attempts_total{JOB}"
            "[$__rate_interval])) > 0))", "{{run_id}}"), "percentunit",
          "The ten runs with the largest share of skipped updates.",
          "Below 1 %, apart from the first minutes of a run.",
          "At 100 %: the run learns nothing; its time is wasted.",
          bottom=0, top=1),
    lines("Steps a second",
          q("topk(10, sum by (run_id) (rate(nanwatch_optimizer_attempts_total"
            "{JOB}[$__rate_interval])))", "{{run_id}}"), "short",
          "The ten fastest runs.",
          "Level.",
          "All fall at once: the file system or the network.", bottom=0),
])

BOARD = board(
    "nanwatch-fleet", "Fleet", "All runs that are watched, and which are sick.",
    [JOBS], [FIRST, TABLE, OVER_TIME, SHARED])
