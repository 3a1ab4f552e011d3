const TELLING = /^(x-)?ratelimit|^retry-after$/

/** Shows an answer in a figure: its status line, its headers as they came, its body. */
export function showResponse(figure, { status, statusText, headers, text }) {
  const caption = figure.querySelector('figcaption')
  const statusLine = element('p', 'status', status ? `${status} ${statusText}` : statusText)
  statusLine.dataset.outcome = status >= 200 && status < 300 ? 'allowed' : 'denied'
  const list = element('dl', 'headers')
  for (const [name, value] of headers) {
    const row = element('div', TELLING.test(name) ? 'telling' : '')
    row.append(element('dt', '', name), element('dd', '', value))
    list.append(row)
  }
  figure.replaceChildren(caption, statusLine, list, element('pre', 'body', text))
}

/** Makes an element with a class and text. Text only: nothing from a response is ever read as HTML. */
export function element(tag, className, text = '') {
  const made = document.createElement(tag)
  if (className) made.className = className
  made.textContent = text
  return made
}
