import { el, setText } from './dom.js'
import { withTimes } from './format.js'
import { undoDialog } from './undo-dialog.js'

/** Denials that begin within this time after a change may be its effect. */
const BEFORE_MS = 120_000
/** How long the figures may still be of the time before a change. */
const SETTLING_MS = 15_000
/** The kinds of events that say what an operator did to a limiter. */
export const CHANGES = ['settings', 'block', 'release']

/** Returns the last change that an operator has made to a limiter since shortly before a time. */
export function changeMade(events, limiter, sinceMs) {
  return events.findLast(
    (event) =>
      event.limiter === limiter &&
      event.by !== undefined &&
      event.atMs >= sinceMs - BEFORE_MS &&
      CHANGES.includes(event.kind),
  )
}

/** Returns whether figures may not yet show the effect of a change. */
export const isSettling = (change, atMs) => change !== undefined && atMs - change.atMs < SETTLING_MS

/** Creates the line below a headline that says what an operator has done about it, with undo. */
export function changeLine({ actions, onDone }) {
  const text = el('span', {})
  const button = el('button', { type: 'button', class: 'undo', onclick: undo }, 'Undo')
  const element = el('p', { class: 'change-made', hidden: true }, text, ' ', button)
  let change

  function undo() {
    const { limiter, by, text: what, details } = change
    const did = `${by} ${withTimes(what)}`
    undoDialog({
      title: `Undo what ${by} did in ${limiter}`,
      content: [el('p', { class: 'quiet' }, did)],
      done: `Undone: ${did} in ${limiter}.`,
      ...{ limiter, change: details.change, actions, onDone },
    })
  }

  return {
    element,
    /** `sentence` is that of the headline, which may say it already. */
    show(made, canChange, sentence) {
      change = made
      element.hidden = made === undefined
      if (made === undefined) return
      setText(text, sentence.includes(made.text) ? '' : `${made.by} ${withTimes(made.text)}`)
      const { change: id, undoes } = made.details ?? {}
      button.hidden = !canChange || id === undefined || undoes !== undefined
      button.setAttribute('aria-label', `Undo what ${made.by} did`)
    },
  }
}
