const HIGHLIGHTED = /^(x-)?ratelimit|^retry-after$/

/** Shows a response in a figure: status line, headers in their order, body. */
export function showResponse(figure, { status, statusText, headers, text }) {
  const caption = figure.querySelector('figcaption')
  const statusLine = element('p', 'status', status ? `${status} ${statusText}` : statusText)
  statusLine.dataset.outcome = status >= 200 && status < 300 ? 'allowed' : 'denied'
  const list = element('dl', 'headers')
  for (const [name, value] of headers) {
    const row = element('div', HIGHLIGHTED.test(name) ? 'highlighted' : '')
    row.append(element('dt', '', name), element('dd', '', value))
    list.append(row)
  }
  figure.replaceChildren(caption, statusLine, list, element('pre', 'body', text))
}

/** Creates an element with a class and text. Never parses a response as HTML. */
export function element(tag, className, text = '') {
  const made = document.createElement(tag)
  if (className) made.className = className
  made.textContent = text
  return made
}
