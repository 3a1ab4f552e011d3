/** Sends a request and reads all of the answer. A server that is gone is an answer too, with status 0. */
export async function send(path, options = {}) {
  try {
    const headers = { Accept: 'application/json', ...options.headers }
    const response = await fetch(path, { cache: 'no-store', ...options, headers })
    const text = await response.text()
    return {
      status: response.status,
      statusText: response.statusText,
      headers: response.headers,
      text,
      body: parse(text),
    }
  } catch {
    return {
      status: 0,
      statusText: 'No answer. Is the server still running?',
      headers: new Headers(),
      text: '',
    }
  }
}

function parse(text) {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
