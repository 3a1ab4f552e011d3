import { confirmDialog, textOf } from './confirm-dialog.js'
import { conflictLines } from './conflict-texts.js'
import { el } from './dom.js'
import { shortened } from './format.js'
import { randomId } from './random-id.js'
import { post } from './server.js'

const MAX_REASON = 500
const MAX_WORDS = 200
/** What is being undone. A list may be drawn again meanwhile: its new button is as busy. */
const running = new Map()

/**
 * Creates a button that undoes something at once. `undone` is `limiter`, `what` in words, and the `body` of the action
 * `undo`, or of another `action`, which cannot be undone in turn.
 */
export function undoButton(label, undone, context) {
  const { change, paths, targets } = undone.body
  const key = JSON.stringify([undone.limiter, change, paths, targets])
  const attributes = { type: 'button', class: 'undo', 'aria-label': label }
  const button = el('button', { ...attributes, onclick }, 'Undo')
  showBusy()

  function onclick() {
    if (running.has(key)) return
    const run = undo(undone, context).finally(() => running.delete(key))
    running.set(key, run)
    showBusy()
  }

  async function showBusy() {
    if (!running.has(key)) return
    button.setAttribute('aria-busy', 'true')
    await running.get(key)
    button.removeAttribute('aria-busy')
  }

  return button
}

/** Undoes something, and says so with the way back. What others have changed since is shown first. */
async function undo(undone, context, id = randomId()) {
  const { actions, onDone } = context
  const { limiter, what, body, action = 'undo' } = undone
  const author = { ...actions.nameOf(actions.rememberedName() ?? ''), reason: reasonOf(undone), id }
  try {
    const { ended } = await post(action, { limiter, ...body, ...author })
    sayDone(undone, context, id, ended)
  } catch (error) {
    if (error.conflicts !== undefined) confirmUndo(undone, context, error)
    else {
      const again = { text: 'Try again', run: () => undo(undone, context, id) }
      onDone(`Could not undo ${what}, in ${limiter}. ${textOf(error)}`, error.isUnknown ? again : undefined)
    }
  }
}

/** Says what was undone. There is no way back from the end of a trial, `ended`, or from another action. */
function sayDone(undone, context, change, ended) {
  const { limiter, what, action } = undone
  if (ended !== undefined) return context.onDone(`Undone: ${what}, in ${limiter}. This has ended ${ended}.`)
  const back = { limiter, what: oppositeOf(what), body: { change } }
  const again = { text: 'Undo', run: () => undo(back, context) }
  context.onDone(`Undone: ${what}, in ${limiter}.`, action === undefined ? again : undefined)
}

/** Shows what others have changed since, and what it becomes if it is undone nevertheless. */
function confirmUndo(undone, context, { conflicts, message, base }) {
  const { limiter, what, body } = undone
  let id
  const dialog = confirmDialog({
    title: `Undo ${what}, in ${limiter}`,
    verb: 'Undo anyway',
    reason: reasonOf(undone),
    content: [
      el('p', {}, 'It has been changed since. Nothing is undone yet.'),
      conflictLines({ conflicts, message }, 'Undone, it would be'),
    ],
    actions: context.actions,
    async run(author) {
      id = author.id
      try {
        await post('undo', { limiter, ...body, over: base, ...author })
        return what
      } catch (error) {
        if (error.conflicts === undefined) throw error
        dialog.close()
        confirmUndo(undone, context, error)
        return undefined
      }
    },
    onDone: () => sayDone(undone, context, id),
  })
}

const reasonOf = ({ what }) => `undo of: ${what}`.slice(0, MAX_REASON).replace(/[\ud800-\udbff]$/, '')

const UNDO = 'the undo of '

const oppositeOf = (what) => (what.startsWith(UNDO) ? what.slice(UNDO.length) : UNDO + what)

/** Returns a change in words: by whom, and what it did or why. */
export const changeWords = (by, text) => `the change by ${by} (${shortened(text, MAX_WORDS)})`
