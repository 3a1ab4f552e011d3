/** Returns an element. Children are elements or text: nothing is ever read as HTML. */
export function el(name, attributes = {}, ...children) {
  const element = document.createElement(name)
  for (const [key, value] of Object.entries(attributes)) {
    if (key === 'onclick' || key === 'onsubmit') element.addEventListener(key.slice(2), value)
    else if (value !== undefined && value !== false) element.setAttribute(key, value === true ? '' : value)
  }
  element.append(...children.filter((child) => child !== undefined))
  return element
}

/**
 * Returns what a client is called, isolated from the text around it: it may be written from right to left.
 * Characters that only turn the direction of others are spelled out: `gnp.exe` must not read `exe.png`.
 */
export function identity(text) {
  const shown = text.replace(
    /[\p{Cc}\p{Bidi_Control}]/gu,
    (control) => `\\u{${control.codePointAt(0).toString(16)}}`,
  )
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
