"""Ranks that are sick, beside what dcgm-exporter and npu-exporter say of their
devices."""

from panels import (BY_SEVERITY, GREEN, GREY, JOBS, ORANGE, RED, RUN_LINK, SEVERITY,
                    board, lines, mapping, now, q, stat, steps, table, timeline)

# The host as the exporters know it: of a pod, its node.
RANKS = ("max by (run_id, rank, host, device_id) (label_replace("
         'nanwatch_rank_info{JOB}, "host", "$1", "node_name", "(.+)"))')
SEVERITIES = "max by (run_id, rank) (nanwatch_rank_severity{JOB})"
SICK = ("on (run_id, rank) topk(20, max by (run_id, rank) (max_over_time("
        "nanwatch_rank_severity{JOB}[$__range] @ end())) > 0)")


def of_devices(dcgm, npu):
    """By host and device id: of GPUs the host's name and the UUID, of NPUs the
    host that is scraped and the number. 2^60 and more is dcgm-exporter's "not
    supported" (DCGM_INT64_BLANK)."""
    return ("max by (host, device_id) ("
            f"label_replace(label_replace({dcgm} < 1152921504606846976, "
            '"host", "$1", "Hostname", "(.+)"), "device_id", "$1", "UUID", "(.+)") '
            f"or label_replace(label_replace({npu}, "
            '"host", "$1", "instance", "([^:]+)(:[0-9]+)?"), '
            '"device_id", "$1", "id", "(.+)"))')


def beside(devices):
    """The device's value with the labels of each rank on it."""
    return f"{RANKS} * on (host, device_id) group_left() {devices}"


TEMPERATURE = of_devices("DCGM_FI_DEV_GPU_TEMP", "npu_chip_info_temperature")
ERROR = of_devices("DCGM_FI_DEV_XID_ERRORS", "npu_chip_info_error_code")
UNCORRECTED = of_devices("DCGM_FI_DEV_ECC_DBE_VOL_TOTAL",
                         "npu_chip_info_hbm_ecc_double_bit_error_cnt")
CORRECTED = of_devices("DCGM_FI_DEV_ECC_SBE_VOL_TOTAL",
                       "npu_chip_info_hbm_ecc_single_bit_error_cnt")
IN_TROUBLE = f"(({beside(ERROR)}) > 0 or ({beside(UNCORRECTED)}) > 0)"

FIRST = (4, [
    stat("Sick ranks", now(f"count({SEVERITIES} >= 2) or vector(0)"), "none",
         "Ranks of all runs with a warning or critical of their own.",
         "0.",
         "The table says on which hosts and devices they run.",
         filled=True, thresholds=steps(GREEN, (1, ORANGE))),
    stat("On a device with errors",
         now(f"count({SEVERITIES} >= 2 and on (run_id, rank) {IN_TROUBLE}) "
             "or vector(0)"), "none",
         "Sick ranks whose device has an Xid, an error code or an uncorrected "
         "ECC error.",
         "0.",
         "Take that device out, and go on from the last good checkpoint.",
         filled=True, thresholds=steps(GREEN, (1, RED))),
    stat("Healthy on such a device",
         now(f"count({SEVERITIES} < 2 and on (run_id, rank) {IN_TROUBLE}) "
             "or vector(0)"), "none",
         "Ranks without trouble whose device has such an error.",
         "0.",
         "The numbers do not show it, or not yet: look at the device before the "
         "next checkpoint.",
         filled=True, thresholds=steps(GREEN, (1, ORANGE))),
    stat("Hottest device", now(f"max({beside(TEMPERATURE)})"), "celsius",
         "Of the devices on which a rank runs.",
         "Below what its maker allows, mostly 85 to 90.",
         "It is slowed down; see *Temperature*.",
         decimals=0, none="no exporter",
         thresholds=steps(GREEN, (85, ORANGE), (95, RED))),
    stat("Ranks beside a device",
         now(f"count({beside(TEMPERATURE)}) or vector(0)"), "none",
         "Ranks that are found with an exporter's device: by host and id.",
         "All that the daemons export.",
         "0: the daemons lack `metrics: {cardinality: full}`, exporters are not "
         "scraped, or their hosts have other names.",
         thresholds=steps(GREY)),
    stat("Ranks without one",
         now(f"count({RANKS} unless on (host, device_id) {TEMPERATURE}) "
             "or vector(0)"), "none",
         "Ranks for which no exporter has a device.",
         "0, or those on CPUs.",
         "Compare the table's *host* and *device id* with the exporters' labels.",
         thresholds=steps(GREY)),
])

TABLE = (12, [
    table("Ranks and their devices, sickest first", {
        "health": (f"topk(100, {SEVERITIES})",
                   {"mappings": mapping(SEVERITY), "custom_width": 110,
                    "thresholds": BY_SEVERITY,
                    "custom_cellOptions": {"type": "color-background",
                                           "mode": "basic"}}),
        "run": (None, {"links": [RUN_LINK]}),
        "rank": (None, {"custom_width": 70}),
        "Xid or error code": (f"({beside(ERROR)}) > 0", {"unit": "none"}),
        "ECC, uncorrected": (beside(UNCORRECTED), {"unit": "none"}),
        "ECC, corrected": (beside(CORRECTED), {"unit": "none"}),
        "temperature": (beside(TEMPERATURE),
                        {"unit": "celsius", "decimals": 0}),
        "host": (None, {}),
        "labels": ("max by (run_id, rank, host, device, device_id) "
                   "(nanwatch_rank_info{JOB})", None),
    },
        "Each rank's health beside the errors and the temperature of its device. "
        "Above 64 ranks the 8 worst of a run.",
        "Green rows without an Xid, and no uncorrected error.",
        "A sick rank on a device with errors: the device is the first suspect. "
        "A sick rank on a clean one: its data, or a device that errs in silence.",
        sort="health", labels={"run_id": "run", "device_id": "device id"},
        alerts=("NanwatchRanksDisagree",)),
])

OVER_TIME = (8, [
    timeline("Health of the sickest ranks",
             q(f"max by (run_id, rank) (nanwatch_rank_severity{{JOB}}) and {SICK} "
               'or on () label_replace(vector(0), "rank", "all", "", "")',
               "{{run_id}} rank {{rank}}"),
             "The 20 sickest ranks of the time shown.",
             "One green row: all ranks.",
             "Compare when they turned with the curves below."),
])

DEVICES = (8, [
    lines("Temperature",
          q(f"{beside(TEMPERATURE)} and {SICK}",
            "{{run_id}} rank {{rank}}, {{host}}"), "celsius",
          "Of the devices of those ranks.",
          "Level.",
          "It climbs before a rank turns: cooling, or a neighbour.",
          none="no exporter, or none is sick"),
    lines("Xid and error codes",
          q(f"({beside(ERROR)}) > 0 and {SICK}",
            "{{run_id}} rank {{rank}}, {{host}}"), "none",
          "The newest code of each of those devices that has one.",
          "Empty.",
          "NVIDIA's list of Xids, or Ascend's of error codes, says what it is.",
          log=10, none="none"),
    lines("ECC errors that were not corrected",
          q(f"({beside(UNCORRECTED)}) > 0 and {SICK}",
            "{{run_id}} rank {{rank}}, {{host}}"), "none",
          "Since the driver was loaded.",
          "Empty.",
          "A step up where a rank turned: its memory gave wrong numbers.",
          bottom=0, none="none"),
])

BOARD = board(
    "nanwatch-devices", "Devices", "Sick ranks beside their devices' errors.",
    [JOBS], [FIRST, TABLE, OVER_TIME, DEVICES])
