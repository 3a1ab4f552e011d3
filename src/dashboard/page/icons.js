import { svg } from './dom.js'

/** The outlines of icons, in a square of 16. Levels differ in shape as well as in color. */
const SHAPES = {
  critical: 'M5 1h6l4 4v6l-4 4H5l-4-4V5zM7.1 4v5h1.8V4zm0 6.2V12h1.8v-1.8z',
  warning: 'M8 1.2 15.4 14.4H.6zM7.2 6v4h1.6V6zm0 5v1.7h1.6V11z',
  calm: 'M8 2a6 6 0 1 1 0 12A6 6 0 0 1 8 2zm0 1.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9z',
  chevron: 'M5.7 3.3 7 2l6 6-6 6-1.3-1.3L10.4 8z',
  back: 'M10.3 12.7 9 14 3 8l6-6 1.3 1.3L5.6 8z',
}

/** Returns an icon. It says nothing that the text beside it does not say. */
export function icon(name) {
  const path = svg('path', { d: SHAPES[name], 'fill-rule': 'evenodd' })
  return svg('svg', { class: `icon is-${name}`, viewBox: '0 0 16 16', 'aria-hidden': 'true' }, path)
}

/** Returns an icon of a level that can change. */
export function levelIcon() {
  const drawing = icon('calm')
  return {
    drawing,
    show(level) {
      drawing.setAttribute('class', `icon is-${level}`)
      drawing.firstChild.setAttribute('d', SHAPES[level])
    },
  }
}
