/** The distances of marks on an axis of time that read well. */
const TIME_STEPS_MS = [1, 2, 3, 5, 10, 15, 30, 60, 120, 180, 240, 360].map((minutes) => minutes * 60_000)

/** Returns round numbers from 0 to a largest value, at most `most` besides 0. */
export function valueTicks(largest, most = 4) {
  const rough = largest / most
  const size = 10 ** Math.floor(Math.log10(rough))
  const step = [1, 2, 5, 10].map((each) => each * size).find((each) => each >= rough)
  return Array.from({ length: Math.floor(largest / step + 1e-9) + 1 }, (_, i) =>
    Number((i * step).toPrecision(6)),
  )
}

/** Returns round times of the reader's clock between two times, at most `most`. */
export function timeTicks(fromMs, toMs, most) {
  const step = TIME_STEPS_MS.find((each) => (toMs - fromMs) / each <= most) ?? TIME_STEPS_MS.at(-1)
  const zoneMs = -60_000 * new Date(fromMs).getTimezoneOffset()
  const first = Math.ceil((fromMs + zoneMs) / step) * step - zoneMs
  const count = Math.max(0, Math.floor((toMs - first) / step) + 1)
  return Array.from({ length: count }, (_, i) => first + i * step)
}
