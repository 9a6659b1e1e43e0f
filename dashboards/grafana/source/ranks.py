"""The ranks of a run: which differ, and on which hosts."""

from panels import (BY_SEVERITY, GREEN, GREY, INCIDENTS, JOBS, ORANGE, PAGE, RED, RUNS,
                    RUN_PAGE, SEVERITY, board, dashed, lines, mapping, now, q,
                    series, stat, steps, table, timeline, variable)

RANKS = variable("rank", "rank",
                 "label_values(nanwatch_rank_severity{RUN}, rank)", many=True,
                 all_value=".*")
SICK = ("on (run_id, rank) topk(20, max by (run_id, rank) (max_over_time("
        "nanwatch_rank_severity{RANK}[$__range] @ end())) > 0)")


# Above 64 ranks the daemon exports the 8 worst, and a spread over all.
def spread_of(metric, stat):
    name = metric.removesuffix("_total") + "_spread"
    return f'{name}{{RUN, stat="{stat}"}}'


def least(metric):
    return f"min({metric}{{RUN}} or {spread_of(metric, 'min')})"


def middle(metric):
    return (f"max({spread_of(metric, 'median')}) or "
            f"quantile(0.5, {metric}{{RUN}})")


def most(metric):
    return f"max({metric}{{RUN}} or {spread_of(metric, 'max')})"


def spread(title, metric, unit, *words, **more):
    """The lowest, the middle and the highest of all ranks."""
    return lines(title, [q(most(metric), "highest rank"),
                         q(middle(metric), "median"),
                         q(least(metric), "lowest rank")], unit, *words,
                 overrides=[dashed("median"),
                            series("highest rank", custom_fillBelowTo="lowest rank",
                                   custom_fillOpacity=15)], **more)


def most_of(counter):
    return (f"sum by (rank) (rate({counter}{{RANK}}[$__rate_interval])) and on "
            f"(rank) topk(8, sum by (rank) (increase({counter}{{RANK}}"
            "[$__range] @ end())) > 0)")


FIRST = (4, [
    stat("Sick ranks", now("count(nanwatch_rank_severity{RUN} >= 2) or vector(0)"),
         "none",
         "Ranks with a warning or critical of their own.",
         "0.",
         "One of many: a device or its data; the table below says which host. "
         "All: the model or the scale, see *nanwatch / Run*.",
         filled=True, thresholds=steps(GREEN, (1, RED)),
         alerts=("NanwatchRanksDisagree",)),
    stat("Open", now('sum(nanwatch_ranks{RUN, state="open"})'), "none",
         "Ranks that are watched now.",
         "The world size, or 1 where only rank 0 reports.",
         "Fewer: ranks were lost or never came.", width=3, none="no such run",
         thresholds=steps(GREY)),
    stat("Lost", now('sum(nanwatch_ranks{RUN, state="lost"})'), "none",
         "Ranks whose stream broke off without a close.",
         "0.",
         "Their processes died or lost the connection: look at their logs on "
         "the hosts in the table.", width=3, none="no such run",
         filled=True, thresholds=steps(GREEN, (1, ORANGE)),
         alerts=("NanwatchRanksMissing",)),
    stat("Never came", now("clamp_min(max(nanwatch_world_size{RUN}) - "
                           "sum(nanwatch_ranks{RUN}), 0)"), "none",
         "The world size minus all ranks that ever opened.",
         "0; the world size less 1 where only rank 0 reports.",
         "Nodes of the run have no client, or their daemon is not scraped.",
         width=3, none="no such run", thresholds=steps(GREY),
         alerts=("NanwatchRanksMissing",)),
    stat("Slowest is behind", now(
        f"{most('nanwatch_rank_last_step')} - "
        f"{least('nanwatch_rank_last_step')}"), "none",
         "Steps from the slowest rank to the fastest.",
         "0 to 2: ranks wait for one another in each step.",
         "Tens: a rank hangs or counts other steps; what differs is judged "
         "without it beyond 64 steps.", decimals=0, none="no steps yet",
         thresholds=steps(GREEN, (3, ORANGE), (64, RED))),
    stat("Scales differ by", now(
        f"{most('nanwatch_rank_loss_scale')} / "
        f"{least('nanwatch_rank_loss_scale')}"), "suffix:x",
         "The largest loss scale of any rank over the smallest.",
         "1: replicas have one scale. 2 for a moment, while a scrape catches "
         "ranks between two steps.",
         "Ranks took different decisions: the overflow flag is not reduced over "
         "all of them.", decimals=0, none="none collected",
         thresholds=steps(GREEN, (1.5, ORANGE), (4, RED)),
         alerts=("NanwatchRanksDisagree",)),
    stat("Clocks are off by", now("max(abs(nanwatch_rank_clock_skew_seconds{RUN}))"),
         "s",
         "The largest difference of a rank's clock from its daemon's.",
         "Below a second.",
         "Set up NTP on that host. nanwatch judges by its own clock; other "
         "programs that join by time do not.", width=3, none="not exported",
         decimals=1, thresholds=steps(GREEN, (5, ORANGE), (30, RED)),
         alerts=("NanwatchClockSkew",)),
])

HEALTH = (6, [
    timeline("Health by rank",
             q(f"max by (run_id, rank) (nanwatch_rank_severity{{RANK}}) and {SICK} "
               'or on () label_replace(vector(0), "rank", "all", "", "")',
               "rank {{rank}}"),
             "Of the ranks that had a finding in the time shown, the 20 sickest. "
             "Above 64 ranks only the 8 worst are exported at any moment.",
             "One green row: all ranks.",
             "The rank that turned first has the cause, mostly; the others "
             "inherit its NaN with the next reduction.",
             alerts=("NanwatchRanksDisagree",)),
])

SPREADS = (8, [
    spread("Loss", "nanwatch_rank_loss", "none",
           "The newest finite loss: highest, median and lowest rank.",
           "A narrow band: each rank has its own data.",
           "One edge leaves: that rank's data or device. The whole band leaves: "
           "see *nanwatch / Run*.", alerts=("NanwatchRanksDisagree",)),
    spread("Loss scale", "nanwatch_rank_loss_scale", "none",
           "The newest loss scale: highest, median and lowest rank.",
           "One line.",
           "Two lines: ranks took different decisions.", log=2,
           alerts=("NanwatchRanksDisagree",)),
    spread("Gradient norm", "nanwatch_rank_grad_norm", "none",
           "The newest gradient norm: highest, median and lowest rank.",
           "One line where the norm is of the reduced gradients, else a band.",
           "One edge leaves: one rank alone makes large gradients, which is its "
           "data or a device that computes wrongly.", log=10,
           alerts=("NanwatchRanksDisagree", "NanwatchGradients")),
])

COUNTS = (8, [
    lines("Overflows a second, by rank",
          q(most_of("nanwatch_rank_overflow_steps_total"), "rank {{rank}}"),
          "short",
          "The 8 ranks with most overflowed steps.",
          "All the same, or none: the flag is reduced over all ranks.",
          "One rank alone: it makes them, or the flag is not reduced.",
          bottom=0, none="none", alerts=("NanwatchRanksDisagree",)),
    lines("Skipped updates a second, by rank",
          q(most_of("nanwatch_rank_skipped_steps_total"), "rank {{rank}}"),
          "short",
          "The 8 ranks with most skipped updates (cardinality: full).",
          "All the same, or none.",
          "Ranks that skip different steps have different weights from then on.",
          bottom=0, none="none", alerts=("NanwatchRanksDisagree",)),
    spread("Overflowed steps so far", "nanwatch_rank_overflow_steps_total",
           "none",
           "Of the present attempt: the rank with most, the median and the one "
           "with fewest.",
           "One line.",
           "A band that widens: some ranks overflow alone.",
           alerts=("NanwatchRanksDisagree",)),
])

TABLE = (11, [
    table("Ranks, worst first", {
        "health": ("max by (rank) (nanwatch_rank_severity{RANK})",
                   {"mappings": mapping(SEVERITY), "custom_width": 110,
                    "thresholds": BY_SEVERITY,
                    "custom_cellOptions": {"type": "color-background",
                                           "mode": "basic"}}),
        "rank": (None, {"custom_width": 70}),
        "step": ("max by (rank) (nanwatch_rank_last_step{RANK})",
                 {"unit": "locale"}),
        "loss": ("max by (rank) (nanwatch_rank_loss{RANK})", {"decimals": 4}),
        "loss scale": ("max by (rank) (nanwatch_rank_loss_scale{RANK})",
                       {"unit": "none"}),
        "gradient norm": ("max by (rank) (nanwatch_rank_grad_norm{RANK})",
                          {"decimals": 4}),
        "overflowed": ("max by (rank) (nanwatch_rank_overflow_steps_total{RANK})",
                       {"unit": "locale"}),
        "skipped": ("max by (rank) (nanwatch_rank_skipped_steps_total{RANK})",
                    {"unit": "locale"}),
        "silent for": ("time() - max by (rank) "
                       "(nanwatch_rank_last_record_timestamp_seconds{RANK})",
                       {"unit": "s", "decimals": 0}),
        "clock": ("max by (rank) (nanwatch_rank_clock_skew_seconds{RANK})",
                  {"unit": "s", "decimals": 1}),
        "host": (None, {}),
        "labels": ("max by (rank, host, device, device_id, instance) "
                   "(nanwatch_rank_info{RANK})", None),
    },
        "Newest numbers of each rank; skips, silence, clock and host with "
        "`metrics: {cardinality: full}`. Above 64 ranks the 8 worst.",
        "Equal numbers but for the loss.",
        "One row that differs names the host and device to take out: run the "
        "same steps elsewhere before you blame the hardware.",
        sort="health", labels={"instance": "daemon", "device_id": "device id"},
        alerts=("NanwatchRanksDisagree", "NanwatchTelemetry")),
])

BOARD = board(
    "nanwatch-ranks", "Ranks", "The ranks of a run side by side.",
    [JOBS, RUNS, RANKS, PAGE], [FIRST, HEALTH, SPREADS, COUNTS, TABLE],
    links=[RUN_PAGE], annotations=INCIDENTS)
