/** The server responds within ten seconds, even if a store hangs. */
const LONGEST_MS = 20_000
/** After this time, what could not be read is read again. */
export const RETRY_MS = 5000

/** Sends a request that ends in time. Returns the response; `undefined` if there is none. Follows no redirect. */
export function request(path, options = {}) {
  const signal = AbortSignal.timeout(LONGEST_MS)
  return fetch(path, { redirect: 'manual', ...options, signal }).catch(() => undefined)
}

/**
 * Returns what to do if a response is that of a login in front of the page, which runs no action: a redirect, a page,
 * or 401. Returns `undefined` for other responses.
 */
export function signInText({ type, ok, status, headers }) {
  const isPage = ok && headers.get('Content-Type')?.startsWith('text/html')
  return type === 'opaqueredirect' || status === 401 || isPage ? SIGN_IN : undefined
}

const SIGN_IN = 'Your session has ended. Sign in again, such as in another tab.'

/** Sends a question, which changes nothing. Returns the response, or throws an `Error` with what went wrong. */
export function ask(action, body) {
  return post(action, body).catch(({ message }) => {
    throw new Error(message)
  })
}

/**
 * Sends a change. Returns the response, or throws an `Error` with what went wrong: `isUnknown` if it is not known
 * whether the action was carried out.
 */
export async function post(action, body) {
  const response = await request(action, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  })
  if (response === undefined)
    throw Object.assign(new Error('The server is not responding.'), { isUnknown: true })
  const signIn = signInText(response)
  if (signIn !== undefined) throw new Error(`${signIn} Nothing was changed.`)
  const reply = await response.json().catch(() => ({ isUnknown: response.ok || response.status >= 500 }))
  if (response.ok && !reply.isUnknown) return reply
  const { error = `The server responded with ${response.status}.`, ...details } = reply
  throw Object.assign(new Error(error), details)
}

/** Reads the events that are kept. Returns none if that fails: the stream has the last ones. */
export async function readLog() {
  const response = await request('log')
  if (!response?.ok) return []
  const text = await response.text().catch(() => '')
  return text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))
}

/** How long the last 24 hours are kept: as long as one of their steps. */
const FRESH_MS = 300_000

/**
 * Returns a function that returns what `history` says of a limiter, or of all for `undefined`, as far as it has
 * been read. It reads again what is old, one after the other: a browser has few connections to a server. Calls
 * `onRead` after each.
 */
export function historyReader(onRead) {
  const read = new Map()
  let isReading = false

  return function historyOf(limiter) {
    const entry = read.get(limiter) ?? { nextMs: 0 }
    read.set(limiter, entry)
    if (!isReading && performance.now() >= entry.nextMs) void load(limiter, entry)
    return entry.value
  }

  async function load(limiter, entry) {
    isReading = true
    const value = await readHistory(limiter)
    if (value !== undefined) entry.value = value
    entry.nextMs = performance.now() + (value === undefined ? RETRY_MS : FRESH_MS)
    isReading = false
    onRead()
  }
}

async function readHistory(limiter) {
  const query = limiter === undefined ? '' : `?${new URLSearchParams({ limiter })}`
  const response = await request(`history${query}`)
  const value = response?.ok ? await response.json().catch(() => undefined) : undefined
  return value && limiter === undefined ? new Map(Object.entries(value)) : value
}
