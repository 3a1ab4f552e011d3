import { connection } from './connection.js'

/**
 * Sends a request and reads the whole response, with the time it took. If the server is gone, reports that
 * to the connection, and returns a response with status 0.
 */
export async function send(path, options = {}) {
  const sinceMs = performance.now()
  try {
    const headers = { Accept: 'application/json', ...options.headers }
    const response = await fetch(path, { cache: 'no-store', ...options, headers })
    const text = await response.text()
    const { status, statusText } = response
    const tookMs = networkMs(response.url) ?? performance.now() - sinceMs
    return { status, statusText, headers: response.headers, text, tookMs }
  } catch {
    connection.reportLost()
    return {
      status: 0,
      statusText: '',
      headers: new Headers(),
      text: '',
      tookMs: performance.now() - sinceMs,
    }
  }
}

/** Returns how long a request took from its first byte to the last of its response, without waits in the page. */
function networkMs(url) {
  const timing = performance.getEntriesByName(url, 'resource').at(-1)
  performance.clearResourceTimings()
  return timing?.requestStart > 0 ? timing.responseEnd - timing.requestStart : undefined
}

/** Sends a request and returns the JSON of its response; `undefined` if the server is gone. */
export async function sendForJson(path) {
  const { status, text } = await send(path)
  return status === 200 ? JSON.parse(text) : undefined
}
