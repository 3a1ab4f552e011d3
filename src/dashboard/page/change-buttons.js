import { changeDialog } from './change-dialog.js'
import { el, setChildren } from './dom.js'
import { waysOf } from './ways.js'

/**
 * Creates the buttons that change what applies to clients or networks, as far as their limiter can. `start()` returns
 * `targets`, `who` and `reason`, or `undefined` if nothing can be changed.
 */
export function changeButtons({ actions, onDone, start, isNamed = false }) {
  const element = el('span', { class: 'bar' })
  let row

  function open(effect) {
    const started = start()
    if (started === undefined) return
    const reason = effect === 'block' || effect === 'raise' ? started.reason : '' // what is wrong explains neither of the others
    changeDialog({ actions, row, effect, onDone, ...started, reason })
  }

  function button(effect) {
    const verb = `${effect[0].toUpperCase()}${effect.slice(1)}`
    const label = isNamed ? `${verb} in ${row.name}` : undefined
    return el('button', { type: 'button', 'aria-label': label, onclick: () => open(effect) }, `${verb}…`)
  }

  return {
    element,
    show(next, canChange, isNetwork = false) {
      row = next
      element.hidden = !canChange || row === undefined
      if (element.hidden) return
      const { effects, why } = waysOf(row, isNetwork)
      setChildren(element, `${effects}/${why}`, () => [
        ...effects.map(button),
        ...(why === '' ? [] : [el('span', { class: 'quiet' }, why)]),
      ])
    },
  }
}
