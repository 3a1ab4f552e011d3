import { changeDialog } from './change-dialog.js'
import { el, setChildren, setText } from './dom.js'
import { actionsOf } from './finding-actions.js'
import { withTimes } from './format.js'
import { addressOf } from './route.js'
import { ask } from './server.js'

/** How often a button asks again to which number it would raise a limit: clients go on asking for more. */
const ASK_EVERY_MS = 10_000

/** Creates the buttons that fit what is wrong with a limiter. With `namesNumbers`, they say to which number they raise. */
export function actionBar({ actions, onDone, namesNumbers = false }) {
  const element = el('div', { class: 'bar' })
  let row
  let askedMs

  function open(override) {
    const { text: _text, textTo: _textTo, ...rest } = override
    const { sentence, reason = sentence } = row.finding
    changeDialog({ ...rest, actions, onDone, row, reason: withTimes(reason) })
  }

  function buttonOf(override) {
    return el('button', { type: 'button', onclick: () => open(override) }, override.text)
  }

  /** Writes the number of the proposal on the button. If it cannot be read, the dialog says why. */
  async function nameNumber({ textTo, targets }) {
    const button = element.querySelector('button:not(.undo)')
    const { raises = [] } = await ask('proposal', { limiter: row.name, targets }).catch(() => ({}))
    if (raises.length === 1) setText(button, textTo(raises[0].proposed))
  }

  return {
    element,
    /** Shows what fits a row, after the button of `undo`, if that ends the cause. */
    show(next, { canChange }, undo) {
      row = next
      const fitting = row === undefined || !canChange ? { overrides: [], editsLimit: false } : actionsOf(row)
      const first = canChange ? undo : undefined
      setChildren(element, JSON.stringify([first?.id, fitting]), () => {
        askedMs = undefined
        return [
          ...(first ? [first.button()] : []),
          ...fitting.overrides.map(buttonOf),
          ...(fitting.editsLimit ? [editLink(row)] : []),
        ]
      })
      const raise = namesNumbers && fitting.overrides.find(({ textTo }) => textTo !== undefined)
      if (!raise || performance.now() - askedMs < ASK_EVERY_MS) return
      askedMs = performance.now()
      void nameNumber(raise)
    },
  }
}

function editLink({ name }) {
  return el('a', { class: 'button', href: addressOf({ view: 'edit', name }) }, 'Edit the limit')
}
