/** The server responds within ten seconds, even if a store hangs. */
const LONGEST_MS = 20_000

/**
 * Sends an action. Returns the response, or throws an `Error` with what went wrong: `isUnknown` if it is not known
 * whether the action was carried out.
 */
export async function post(action, body) {
  const response = await fetch(action, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(LONGEST_MS),
  }).catch(() => undefined)
  if (response === undefined)
    throw Object.assign(new Error('The server is not responding.'), { isUnknown: true })
  const reply = await response.json().catch(() => ({ isUnknown: response.ok || response.status >= 500 }))
  if (response.ok && !reply.isUnknown) return reply
  const { error = `The server responded with ${response.status}.`, ...details } = reply
  throw Object.assign(new Error(error), details)
}

/** Reads the events that are kept. Returns none if that fails: the stream has the last ones. */
export async function readLog() {
  const response = await fetch('log').catch(() => undefined)
  if (!response?.ok) return []
  const text = await response.text().catch(() => '')
  return text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))
}

/** How long the last 24 hours are kept: as long as one of their steps. */
const FRESH_MS = 300_000
const RETRY_MS = 10_000

/**
 * Returns a function that returns what `history` says of a limiter, or of all for `undefined`, as far as it has
 * been read. It reads again what is old, and calls `onRead` then.
 */
export function historyReader(onRead) {
  const read = new Map()

  return function historyOf(limiter) {
    const entry = read.get(limiter) ?? { nextMs: 0 }
    read.set(limiter, entry)
    if (performance.now() >= entry.nextMs) {
      entry.nextMs = performance.now() + RETRY_MS
      void load(limiter, entry)
    }
    return entry.value
  }

  async function load(limiter, entry) {
    const query = limiter === undefined ? '' : `?${new URLSearchParams({ limiter })}`
    const response = await fetch(`history${query}`).catch(() => undefined)
    if (!response?.ok) return
    const value = await response.json().catch(() => undefined)
    if (value === undefined) return
    entry.value = limiter === undefined ? new Map(Object.entries(value)) : value
    entry.nextMs = performance.now() + FRESH_MS
    onRead()
  }
}
