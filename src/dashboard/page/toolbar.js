import { el, setAttribute, setText } from './dom.js'
import { addressOf } from './route.js'

const TYPING_MS = 250

/** Creates a field that calls `onSearch` shortly after the reader has stopped typing. */
export function searchField(label, onSearch) {
  let timer
  const input = el('input', {
    type: 'search',
    placeholder: label,
    'aria-label': label,
    'aria-keyshortcuts': '/',
    autocomplete: 'off',
    autocapitalize: 'none',
    spellcheck: 'false',
    oninput: () => {
      clearTimeout(timer)
      timer = setTimeout(() => onSearch(input.value), TYPING_MS)
    },
  })
  return {
    input,
    element: el('label', { class: 'search' }, input, el('kbd', { 'aria-hidden': 'true' }, '/')),
    show(text) {
      if (document.activeElement !== input) input.value = text
    },
  }
}

/** Creates the links that choose how much time is shown. */
export function rangeSwitch() {
  const choices = [
    ['15min', '15 min'],
    ['24h', '24 h'],
  ].map(([range, text]) => [range, el('a', {}, text)])
  const title = el('span', {})
  return {
    element: el(
      'div',
      { class: 'segments', role: 'group', 'aria-label': 'Time range' },
      ...choices.map(([, link]) => link),
    ),
    title,
    show(route) {
      for (const [range, link] of choices) {
        setAttribute(link, 'href', addressOf({ ...route, range }))
        setAttribute(link, 'aria-current', range === route.range ? 'true' : undefined)
      }
      setText(title, route.range === '24h' ? 'last 24 hours' : 'last 15 minutes')
    },
  }
}
