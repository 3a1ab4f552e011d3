import { spelled } from './format.js'

const SVG = 'http://www.w3.org/2000/svg'

/** Returns an element. Children are elements or text: nothing is ever read as HTML. */
export function el(name, attributes = {}, ...children) {
  return fill(document.createElement(name), attributes, children)
}

/** Returns an element of a drawing. */
export function svg(name, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, name), attributes, children)
}

function fill(element, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith('on')) element.addEventListener(key.slice(2), value)
    else if (value !== undefined && value !== false) element.setAttribute(key, value === true ? '' : value)
  }
  element.append(...children.filter((child) => child !== undefined && child !== false))
  return element
}

/** Sets a text, and does nothing if it is the same: the browser then has nothing to lay out. */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text
}

/** Sets an attribute, or removes it if the value is `undefined`. */
export function setAttribute(element, name, value) {
  if (value === undefined) element.removeAttribute(name)
  else if (element.getAttribute(name) !== value) element.setAttribute(name, value)
}

/** Replaces the children of an element if `key` has changed since. */
export function setChildren(element, key, children) {
  if (element.shownKey === key) return
  element.shownKey = key
  element.replaceChildren(...children())
}

/** Returns what a client is called, isolated from the text around it: it may be written from right to left. */
export function identity(text) {
  const shown = spelled(text)
  return el('bdi', { class: 'identity', dir: 'ltr', title: shown }, shown || '(empty)')
}

/** Returns a table with a caption and a head. Cells are elements or text; those of `numbers` are right-aligned. */
export function table({ caption, isCaptionHidden = false, head, rows, numbers = [] }) {
  const cell = (name, content, i) =>
    el(
      name,
      { class: numbers.includes(i) ? 'number' : undefined, scope: name === 'th' ? 'col' : undefined },
      content,
    )
  return el(
    'div',
    { class: 'scroll', tabindex: '0', role: 'group', 'aria-label': caption },
    el(
      'table',
      {},
      el('caption', { class: isCaptionHidden ? 'visually-hidden' : undefined }, caption),
      el('thead', {}, el('tr', {}, ...head.map((content, i) => cell('th', content, i)))),
      el(
        'tbody',
        {},
        ...rows.map((cells) => el('tr', {}, ...cells.map((content, i) => cell('td', content, i)))),
      ),
    ),
  )
}
