import { changeDialog } from './change-dialog.js'
import { el, setChildren } from './dom.js'
import { actionsOf } from './finding-actions.js'
import { withTimes } from './format.js'
import { addressOf } from './route.js'

/** Creates the buttons that fit what is wrong with a limiter. */
export function actionBar({ actions, onDone }) {
  const element = el('div', { class: 'bar' })
  let row

  function open(override) {
    const { text: _text, ...rest } = override
    const { sentence, reason = sentence } = row.finding
    changeDialog({ ...rest, actions, onDone, row, reason: withTimes(reason) })
  }

  return {
    element,
    show(next, { canChange }) {
      row = next
      const fitting = row === undefined || !canChange ? { overrides: [], editsLimit: false } : actionsOf(row)
      setChildren(element, JSON.stringify(fitting), () => [
        ...fitting.overrides.map((override) =>
          el('button', { type: 'button', onclick: () => open(override) }, override.text),
        ),
        ...(fitting.editsLimit
          ? [
              el(
                'a',
                { class: 'button', href: addressOf({ view: 'edit', name: row.name }) },
                'Edit the limit',
              ),
            ]
          : []),
      ])
    },
  }
}
