import { element } from './dom.js'

const ABOUT_LIMITS = /^(x-)?ratelimit|^retry-after$/
const SHOW_EVERY_MS = 250

/**
 * Creates the view of the last response in a figure: its status line, the headers about limits, the others,
 * and the body. Shows at most four responses a second, always the last one.
 */
export function createAnswer(figure) {
  const content = figure.querySelector('.content')
  let latest
  let timer

  function render() {
    timer = undefined
    const { status, statusText, headers, text } = latest
    const statusLine = element('p', 'status', `HTTP/1.1 ${status} ${statusText}`)
    statusLine.dataset.outcome = status < 300 ? 'allowed' : 'denied'
    const rows = [...headers].sort(([a], [b]) => ABOUT_LIMITS.test(b) - ABOUT_LIMITS.test(a))
    const list = element('dl', 'headers')
    for (const [name, value] of rows) {
      const row = element('div', ABOUT_LIMITS.test(name) ? 'about-limits' : '')
      row.append(element('dt', '', name), element('dd', '', value))
      list.append(row)
    }
    content.replaceChildren(statusLine, list, element('pre', 'body', text))
  }

  return {
    show(response) {
      latest = response
      timer ??= setTimeout(render, content.querySelector('.status') ? SHOW_EVERY_MS : 0)
    },
    clear(text) {
      clearTimeout(timer)
      timer = undefined
      content.replaceChildren(element('p', 'empty', text))
    },
  }
}
