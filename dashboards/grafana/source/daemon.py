"""nanwatchd itself: does it judge, keep and tell."""

from panels import (GREEN, GREY, JOBS, ORANGE, RED, board, dashed, lines, now, q,
                    stat, steps, table, variable)

DAEMONS = variable("instance", "instance",
                   "label_values(nanwatch_build_info{JOB}, instance)", many=True)
BY = "by (instance)"


def rate(counter, more=""):
    return (f"sum {BY} (rate({counter}{{DAEMON{more}}}[$__rate_interval]))")


def value(gauge):
    return f"max {BY} ({gauge}{{DAEMON}})"


def yes_no(yes, no):
    return {1: (yes, GREEN), 0: (no, RED)}


FIRST = (4, [
    stat("Scraped", now("min(up{DAEMON})"), "none",
         "Whether Prometheus reaches each daemon that is chosen.",
         "up.",
         "It is stopped, its machine is down, or `web.listen` is not what "
         "Prometheus scrapes: `systemctl status nanwatchd` there.",
         width=3, filled=True, texts=yes_no("up", "DOWN"), none="ABSENT",
         thresholds=steps(RED, (1, GREEN)),
         alerts=("NanwatchDaemonDown", "NanwatchAbsent", "NanwatchWatchdog")),
    stat("Judging", now("min(nanwatch_ready{DAEMON})"), "none",
         "Whether each daemon judges what comes in.",
         "ready. After a start it replays its history for some seconds.",
         "It replays a long history: wait, or shorten `history.keep_for`.",
         width=3, filled=True, texts=yes_no("ready", "REPLAYS"), none="not known",
         thresholds=steps(RED, (1, GREEN)), alerts=("NanwatchNotReady",)),
    stat("Queue", now("max(nanwatch_mailbox_length{DAEMON} / "
                      "nanwatch_mailbox_capacity{DAEMON})"), "percentunit",
         "How full the mailbox of the fullest daemon is.",
         "Below 5 %.",
         "More is sent than one thread judges, or the disk is slow: clients "
         "wait, and in the end drop records.",
         width=3, decimals=0, bottom=0, top=1, none="not known",
         thresholds=steps(GREEN, (0.2, ORANGE), (0.5, RED)),
         alerts=("NanwatchQueueFilling",)),
    stat("Records are", now("max(nanwatch_history_degraded{DAEMON})"), "none",
         "Whether records are kept.",
         "kept.",
         "The disk is full or broken: records are judged and forgotten; a "
         "restart forgets the runs.",
         width=3, filled=True, none="not known",
         texts={0: ("kept", GREEN), 1: ("NOT KEPT", RED)},
         thresholds=steps(GREEN, (1, RED)), alerts=("NanwatchHistoryDegraded",)),
    stat("Deliveries that fail", now(
        "sum(increase(nanwatch_notify_failures_total{DAEMON}[10m])) / "
        "(sum(increase(nanwatch_notify_sends_total{DAEMON}[10m])) > 0)"),
         "percentunit",
         "Of the deliveries to Alertmanager and webhooks in ten minutes, how "
         "many failed.",
         "0 %; or nothing was to be sent.",
         "The daemon's own alerts reach nobody: look at the receiver and at "
         "`notify` of the configuration.",
         width=3, decimals=0, none="nothing to tell", bottom=0, top=1,
         thresholds=steps(GREEN, (0.05, ORANGE), (0.5, RED)),
         alerts=("NanwatchNotifierFailing", "NanwatchPushWorks")),
    stat("Configuration",
         now("min(nanwatch_config_last_reload_successful{DAEMON})"), "none",
         "Whether the last reload was accepted.",
         "accepted.",
         "It goes on with the old one. `nanwatch check-config FILE` says what "
         "is wrong, with line numbers.",
         width=3, filled=True, texts=yes_no("accepted", "REFUSED"),
         none="not known", thresholds=steps(RED, (1, GREEN)),
         alerts=("NanwatchConfigReloadFailed",)),
    stat("Refused", now('sum(increase(nanwatch_ingest_refusals_total{DAEMON, '
                        'code="invalid"}[10m])) or vector(0)'), "none",
         "Messages of the last ten minutes that no daemon could accept.",
         "0.",
         "A client of another version, or one that sends what cannot be: the "
         "daemon's log says what.",
         width=3, decimals=0, thresholds=steps(GREEN, (1, ORANGE)),
         alerts=("NanwatchClientRefused",)),
    stat("Clocks are off by", now("max(nanwatch_clock_skew_max_seconds{DAEMON})"),
         "s",
         "The largest difference between a rank's clock and its daemon's.",
         "Below a second.",
         "Set up NTP on the host that *nanwatch / Ranks* names.",
         width=3, decimals=1, none="not known",
         thresholds=steps(GREEN, (5, ORANGE), (30, RED)),
         alerts=("NanwatchClockSkew",)),
])

INGEST = (8, [
    lines("Records a second", [
        q(rate("nanwatch_ingest_steps_total"), "{{instance}} steps"),
        q(rate("nanwatch_ingest_op_statuses_total"), "{{instance}} op statuses"),
    ], "short",
        "What each daemon judges.",
        "Level; up to some hundred thousand.",
        "0 while trainings run: they cannot reach it.", bottom=0,
        alerts=("NanwatchQueueFilling",)),
    lines("Mailbox", [
        q(value("nanwatch_mailbox_length"), "{{instance}}"),
        q("max(nanwatch_mailbox_capacity{DAEMON})", "capacity"),
    ], "none",
        "Parsed messages that wait for the judging thread, on a logarithmic "
        "axis.",
        "Near nothing; short peaks.",
        "It grows: compare *Processor*; near 1 core it is too much for one "
        "thread, below it waits for the disk.",
        log=10, overrides=[dashed("capacity")], alerts=("NanwatchQueueFilling",)),
    lines("Turned away a second", [
        q(f"sum by (instance, code) (rate(nanwatch_ingest_refusals_total{{DAEMON}}"
          "[$__rate_interval])) > 0", "{{instance}} refused: {{code}}"),
        q("sum by (instance, limit) (rate(nanwatch_limit_hits_total{DAEMON}"
          "[$__rate_interval])) > 0", "{{instance}} bound: {{limit}}"),
        q(f"{rate('nanwatch_ingest_quota_pauses_total')} > 0",
          "{{instance}} read slowly: over a quota"),
        q(f"{rate('nanwatch_ingest_duplicates_total')} > 0",
          "{{instance}} came again"),
    ], "short",
        "Messages refused by code, bounds that were hit, quotas, and messages "
        "that came again after a reconnect.",
        "Empty; some that came again after a restart.",
        "busy: the queue. invalid: a client sends what cannot be. A bound: its "
        "runbook says what is left out there.",
        bottom=0, none="none", alerts=("NanwatchLimitHit", "NanwatchClientRefused",
                          "NanwatchQueueFilling")),
])

STREAMS = (7, [
    lines("Streams", [
        q(value("nanwatch_ingest_streams"), "{{instance}}"),
        q(f"sum {BY} (increase(nanwatch_ingest_streams_opened_total{{DAEMON}}"
          "[$__rate_interval])) > 0", "{{instance}} opened"),
    ], "none",
        "Open streams, one a rank, and how many were opened since the last "
        "point.",
        "As many as ranks; opened only when runs begin.",
        "Many opened again and again: connections break.", bottom=0, width=6,
        decimals=0, alerts=("NanwatchTelemetry",)),
    lines("Network", [q(rate("nanwatch_ingest_bytes_total"), "{{instance}}")],
          "Bps", "Bytes of the messages that came in.", "Level.",
          "Above 256 MiB/s a stream is held back: observe fewer ops.",
          bottom=0, width=6, alerts=("NanwatchQueueFilling",)),
    lines("Messages a second", q(rate("nanwatch_ingest_messages_total"),
                                 "{{instance}}"), "short",
          "Messages received, batches of records each.",
          "Some tens a rank.",
          "Hundreds a rank: batches of one record; each overflow and NaN is "
          "sent at once.", bottom=0, width=6),
    lines("Held", [
        q(value("nanwatch_engine_runs"), "{{instance}} runs"),
        q(value("nanwatch_engine_ranks"), "{{instance}} ranks"),
        q(value("nanwatch_engine_sessions"), "{{instance}} sessions"),
    ], "none",
        "Run attempts, ranks and open sessions in memory.",
        "As many as are trained; ended runs stay for five minutes.",
        "They only rise: run ids that are never used again, such as a new one "
        "at each start of a job.", bottom=0, width=6, decimals=0,
        alerts=("NanwatchLimitHit",)),
])

HISTORY = (7, [
    lines("Waits for the disk", q(value("nanwatch_history_queue_bytes"),
                                  "{{instance}}"), "bytes",
          "Bytes that wait for their commit; clients are told to come again at "
          "`history.queue_bytes`.",
          "Below a megabyte.",
          "It grows: a slow or full disk.", bottom=0, width=6,
          alerts=("NanwatchQueueFilling", "NanwatchHistoryDegraded")),
    lines("Written", [
        q(rate("nanwatch_history_written_bytes_total"), "{{instance}}"),
    ], "Bps",
        "Compressed bytes a second.",
        "Some ten bytes a record.",
        "0 while records come: see *Lost and failed*.", bottom=0, width=6),
    lines("History file", q(value("nanwatch_history_file_bytes"),
                            "{{instance}}"), "bytes",
          "Size of the database.",
          "Below `history.keep_bytes` (8 GiB).",
          "It grows to the disk's end: lower `keep_bytes` or `keep_for`.",
          bottom=0, width=6, alerts=("NanwatchHistoryDegraded",)),
    lines("Lost and failed", [
        q(f"sum {BY} (increase(nanwatch_history_failures_total{{DAEMON}}"
          "[$__rate_interval])) > 0", "{{instance}} failed commits"),
        q(f"sum {BY} (increase(nanwatch_history_lost_events_total{{DAEMON}}"
          "[$__rate_interval])) > 0", "{{instance}} events not kept"),
        q("sum by (instance, reason) ("
          "increase(nanwatch_history_set_aside_total{DAEMON}"
          "[$__rate_interval])) > 0", "{{instance}} files set aside: {{reason}}"),
    ], "none",
        "Commits that failed, events that were judged but not kept, and "
        "history files that were set aside.",
        "Empty.",
        "The disk: the daemon's log names the error.", bars=True, bottom=0,
        width=6, none="none", alerts=("NanwatchHistoryDegraded",)),
    ])

EVENTS = (7, [
    lines("Events a second", [
        q(rate("nanwatch_engine_events_total"), "{{instance}} applied"),
        q(rate("nanwatch_history_events_total"), "{{instance}} committed"),
        q(f"{rate('nanwatch_history_removed_events_total')} > 0",
          "{{instance}} removed by age or size"),
    ], "short",
        "Events that the engine applied and the history committed.",
        "Equal.",
        "Committed below applied: the history does not keep up.", bottom=0,
        width=6),
    lines("Commits a second", q(rate("nanwatch_history_commits_total"),
                                "{{instance}}"), "short",
          "Transactions; acknowledgements wait for them.",
          "Up to 50, one each `history.commit_interval`.",
          "Few while records come: the disk is slow.", bottom=0, width=6),
    lines("Late op statuses", q(
        f"{rate('nanwatch_engine_late_op_statuses_total')}", "{{instance}}"),
          "short",
          "Statuses of steps that were judged before; judged with the next.",
          "0.",
          "A client says ops after their step: say them before it.", bottom=0,
          width=6, alerts=("NanwatchTelemetry",)),
    lines("Age of what is shown", q(value("nanwatch_snapshot_age_seconds"),
                                    "{{instance}}"), "s",
          "How old the numbers of a scrape are.",
          "Below a second while records come.",
          "The judging thread is stuck in something: `nanwatch runs` says "
          "whether it answers.", bottom=0, width=6,
          alerts=("NanwatchQueueFilling",)),
])

TELLING = (7, [
    lines("Deliveries", [
        q("sum by (instance, receiver) (increase(nanwatch_notify_sends_total"
          "{DAEMON}[$__rate_interval]))", "{{instance}} {{receiver}} tried"),
        q("sum by (instance, receiver) (increase(nanwatch_notify_failures_total"
          "{DAEMON}[$__rate_interval])) > 0",
          "{{instance}} {{receiver}} failed"),
        q("sum by (instance, receiver) (increase(nanwatch_notify_dropped_total"
          "{DAEMON}[$__rate_interval])) > 0",
          "{{instance}} {{receiver}} given up"),
    ], "none",
        "Notices to Alertmanager and webhooks since the last point.",
        "One a minute and firing incident; none failed.",
        "Failed: the receiver is down or refuses. Given up: somebody was not "
        "told.", bottom=0, width=8,
        alerts=("NanwatchNotifierFailing", "NanwatchPushWorks")),
    lines("Notices that wait", q("max by (instance, receiver) "
                                 "(nanwatch_notify_queue_length{DAEMON})",
                                 "{{instance}} {{receiver}}"), "none",
          "The newest state of incidents that no receiver took yet.",
          "0.",
          "They wait for the receiver, with growing pauses.", bottom=0, width=8,
          decimals=0, alerts=("NanwatchNotifierFailing",)),
    lines("HTTP requests a second",
          q("sum by (instance, handler, code) (rate(nanwatch_http_requests_total"
            "{DAEMON}[$__rate_interval])) > 0",
            "{{instance}} {{handler}} {{code}}"), "short",
          "Scrapes, pages and calls of the API, by status.",
          "A scrape each 15 s; 200.",
          "403: a Host that is not in `web.allowed_hosts`. 404: a run that is no "
          "more. 503: it replays.", bottom=0, width=8),
])

RELAYED = (7, [
    lines("Behind for the upstream",
          q(value("nanwatch_relay_lag_seconds"), "{{instance}}"), "s",
          "Age of the oldest message that a relay's upstream does not hold yet.",
          "Below a second.",
          "The upstream is away or busy: the relay keeps all and judges alone.",
          bottom=0, width=6, alerts=("NanwatchRelayBehind",)),
    lines("Events behind",
          q(value("nanwatch_relay_lag_events"), "{{instance}}"), "none",
          "Events of a relay's history that its upstream may not hold yet.",
          "Some tens while records come.",
          "They wait in the history, until retention removes them.",
          bottom=0, decimals=0, width=6),
    lines("The upstream", [
        q(value("nanwatch_relay_connected"), "{{instance}} is there"),
        q("sum by (instance) (increase(nanwatch_relay_reconnects_total"
          "{DAEMON}[$__rate_interval])) > 0", "{{instance}} went away"),
        q("sum by (instance) (increase(nanwatch_relay_refused_messages_total"
          "{DAEMON}[$__rate_interval])) > 0", "{{instance}} refused"),
        q("sum by (instance) (increase(nanwatch_relay_missing_messages_total"
          "{DAEMON}[$__rate_interval])) > 0", "{{instance}} lacked"),
    ], "none",
        "Whether it is there, and what it did not get.",
        "1, and nothing else.",
        "Refused: the relay's log says why. Lacked: retention or a full disk "
        "took it before it was sent.", bottom=0, decimals=0, width=6,
        alerts=("NanwatchRelayBehind",)),
    lines("Sent upstream", [
        q(rate("nanwatch_relay_bytes_total"), "{{instance}} bytes"),
        q(rate("nanwatch_relay_messages_total"), "{{instance}} messages"),
    ], "short", "Bytes and messages a second, before they are encrypted.",
        "As much as the trainings send here.",
        "Much more than that: messages are refused and sent again.",
        bottom=0, width=6),
])

PUSHED = (7, [
    lines("Behind for a store",
          q(value("nanwatch_push_lag_seconds"), "{{instance}} {{to}}"), "s",
          "Age of the oldest sample that a store of metrics does not have yet.",
          "About a second.", "It is away: samples wait in the history.",
          bottom=0, width=12, alerts=("NanwatchPushLagging",)),
    lines("Samples for stores", [
        q(f"sum by (instance, to{more}) (rate(nanwatch_push_{metric}_total"
          f"{{DAEMON}}[$__rate_interval])){end}", "{{instance}} {{to}} " + shown)
        for metric, more, end, shown in (
            ("samples", "", "", "taken"), ("failures", "", "", "requests failed"),
            ("dropped_samples", ", reason", " > 0", "given up: {{reason}}"))
    ] + [q(value("nanwatch_push_lag_events"), "{{instance}} {{to}} events wait")],
        "short", "Samples a second, requests that fail, and events that wait.",
        "A dozen a step and rank.", "The runbook has the reasons.", bottom=0,
        width=12, alerts=("NanwatchPushLagging",)),
])

PROCESS = (7, [
    lines("Processor", q(rate("process_cpu_seconds_total"), "{{instance}}"),
          "none",
          "Cores in use.", "Below 0.3 at some thousand records a second.",
          "1 and more: one thread judges, so this is the end of what it can.",
          bottom=0, width=6, alerts=("NanwatchQueueFilling",)),
    lines("Memory", q(value("process_resident_memory_bytes"), "{{instance}}"),
          "bytes",
          "Resident memory.", "50 MB to some hundred, by runs, ranks and ops.",
          "It only rises with the same runs: a fault of ours; please tell.",
          bottom=0, width=6),
    lines("Open files", q(value("process_open_fds"), "{{instance}}"), "none",
          "File descriptors.", "Some tens, and one a stream.",
          "Near the limit of the unit (`LimitNOFILE`): new ranks are refused.",
          bottom=0, width=6, decimals=0),
    lines("Series", [
        q(value("nanwatch_series"), "{{instance}}"),
        q(f"{value('nanwatch_series_left_out')} > 0", "{{instance}} left out"),
        q("max(nanwatch_series_limit{DAEMON})", "limit"),
    ], "none",
        "Series of each scrape, on a logarithmic axis.",
        "Far below the limit; none left out.",
        "Runs are missing from Prometheus, healthy ones first: raise "
        "`metrics.series_max` or lower `metrics.cardinality`.",
        log=10, width=6, overrides=[dashed("limit")],
        alerts=("NanwatchSeriesLeftOut", "NanwatchLimitHit")),
])

ABOUT = (7, [
    table("Daemons", {
        "daemon": (None, {}),
        "version": (None, {}),
        "labels": ("max by (instance, version, compiler) "
                   "(nanwatch_build_info{DAEMON})", None),
        "started": ("max by (instance) (nanwatch_start_timestamp_seconds"
                    "{DAEMON}) * 1000", {"unit": "dateTimeFromNow"}),
        "process started": ("max by (instance) (process_start_time_seconds"
                            "{DAEMON}) * 1000", {"unit": "dateTimeFromNow"}),
        "replay took": (value("nanwatch_replay_duration_seconds"),
                        {"unit": "s"}),
        "events replayed": (value("nanwatch_replay_events"),
                            {"unit": "locale"}),
        "configuration of": (
            "max by (instance) (nanwatch_config_last_reload_success_timestamp_"
            "seconds{DAEMON}) * 1000", {"unit": "dateTimeFromNow"}),
        "newest event": (value("nanwatch_snapshot_event_id"),
                         {"unit": "locale"}),
        "clock was set": (value("nanwatch_clock_jumps_total"),
                          {"unit": "locale"}),
        "is ahead of it": (value("nanwatch_clock_ahead_seconds"),
                           {"unit": "s"}),
        "open to others": (value("nanwatch_web_insecure"),
                           {"unit": "locale"}),
        "certificate since": (
            "max by (instance) (nanwatch_tls_certificate_not_before_timestamp_"
            "seconds{DAEMON}) * 1000", {"unit": "dateTimeFromNow"}),
        "certificate until": (
            "min by (instance) (nanwatch_tls_certificate_not_after_timestamp_"
            "seconds{DAEMON}) * 1000", {"unit": "dateTimeFromNow"}),
        "audited": (value("nanwatch_audit_lines_total"), {"unit": "locale"}),
        "refusals left out": (value("nanwatch_audit_left_out_total"),
                              {"unit": "locale"}),
        "audit lost": (value("nanwatch_audit_lost_total"),
                       {"unit": "locale"}),
    },
        "Versions, starts, what each replayed, its clock, and how long its "
        "certificates are valid.",
        "One version; started when you did.",
        "Started just now: it was restarted or killed; `journalctl -u "
        "nanwatchd` says why. A certificate ends in days: put a new one there.",
        sort="started", labels={"instance": "daemon"},
        alerts=("NanwatchNotReady", "NanwatchConfigReloadFailed",
                "NanwatchCertificateExpires")),
])

BOARD = board(
    "nanwatch-daemon", "Daemon", "nanwatchd itself: judging, keeping, telling.",
    [JOBS, DAEMONS],
    [FIRST, "Ingest", INGEST, STREAMS, "History", HISTORY, EVENTS,
     "Telling, pages and metrics", TELLING, "Relay", RELAYED, "Stores of metrics", PUSHED,
     "Process", PROCESS, ABOUT])
