import { request, signInText } from './server.js'

/** The connection counts as lost this long after the last message: there is one every second. */
const SILENT_MS = 10_000
/** The server ends a stream every five minutes, and the browser connects again within this time. */
const RECONNECT_MS = 4000
const RETRY_MS = 3000

/**
 * Opens the stream of the server. Calls `onFrame` and `onSession` with what it sends, and `onLost` with what is
 * wrong. Returns a function that says what the page looks at.
 */
export function openStream({ onFrame, onSession, onLost }) {
  let source
  let address
  let timer
  let lost

  function open() {
    clearTimeout(timer)
    source?.close()
    const own = new EventSource(address)
    source = own
    own.addEventListener('session', ({ data }) => onSession(JSON.parse(data)))
    own.addEventListener('message', ({ data }) => {
      clearTimeout(lost)
      lost = undefined
      watch()
      onFrame(JSON.parse(data))
    })
    own.addEventListener('error', () => {
      lost ??= setTimeout(() => onLost(''), RECONNECT_MS)
      if (own.readyState === EventSource.CLOSED) void explain(own)
    })
    watch()
  }

  /** Connects again if nothing arrives: a proxy or a sleeping machine can keep a dead connection open. */
  function watch() {
    clearTimeout(timer)
    timer = setTimeout(() => {
      onLost('')
      open()
    }, SILENT_MS)
  }

  /** Says why the server has refused the stream, and tries again later. */
  async function explain(own) {
    clearTimeout(timer)
    const problem = await problemOf(address)
    if (own !== source) return // the page looks at something else by now
    onLost(problem)
    timer = setTimeout(open, RETRY_MS)
  }

  return ({ limiter, search }) => {
    const query = new URLSearchParams()
    if (limiter !== undefined) query.set('limiter', limiter)
    if (search) query.set('q', search)
    const wanted = query.size === 0 ? 'stream' : `stream?${query}`
    if (wanted === address) return
    address = wanted
    open()
  }
}

/** Asks what the server says in place of a stream; nothing if it does not respond, or would stream by now. */
async function problemOf(address) {
  const response = await request(address)
  if (response === undefined) return ''
  const signIn = signInText(response)
  if (response.ok || signIn !== undefined) {
    void response.body?.cancel()
    return signIn ?? ''
  }
  const { error } = await response.json().catch(() => ({}))
  return error ?? `The server responded with ${response.status}.`
}
