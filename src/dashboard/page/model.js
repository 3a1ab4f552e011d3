import { extended } from './series.js'

const MAX_EVENTS = 1000

/** Creates what the page knows, from the frames of the stream. */
export function createModel() {
  return {
    /** The clock of the server. */
    atMs: Date.now(),
    session: { canChange: false },
    rows: new Map(),
    series: new Map(),
    outages: [],
    processes: [],
    headlines: [],
    problems: [],
    events: [],
    detail: undefined,
    /** Whether a frame has arrived. */
    isKnown: false,
  }
}

/** Takes over what a frame says has changed. */
export function applyFrame(
  model,
  { atMs, rows, series, outages, processes, headlines, problems, detail, events },
) {
  model.isKnown = true
  model.atMs = atMs
  for (const row of rows ?? []) model.rows.set(row.name, row)
  for (const [name, news] of Object.entries(series ?? {}))
    model.series.set(name, extended(model.series.get(name), news))
  if (outages) model.outages = outages
  if (processes) model.processes = processes
  if (headlines) model.headlines = headlines
  if (problems) model.problems = problems
  if (detail) model.detail = detail
  if (events) addEvents(model, events)
}

/** Adds events, each once, in the order of their times. */
export function addEvents(model, events) {
  const known = new Set(model.events.map(({ id }) => id))
  const added = events.filter(({ id }) => !known.has(id))
  if (added.length === 0) return
  model.events = [...model.events, ...added].sort((a, b) => a.atMs - b.atMs).slice(-MAX_EVENTS)
}
