/** Sends a request and reads the whole response. If the server is gone, returns a response with status 0. */
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
      statusText: 'No response. Is the server still running?',
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
