import { el, setChildren, setText } from './dom.js'
import { moment, spelled, withTimes } from './format.js'
import { changeWords, undoButton } from './undo.js'

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

/** Returns whether a sentence names a change as the cause, so that undoing it is what ends the denials. */
export const isCause = (made, sentence) =>
  made?.details?.limits !== undefined && !isRemedy(made) && sentence.includes(made.details.limits)

/** Returns whether a change allows more: to undo it would bring the denials back. */
const isRemedy = ({ kind, details }) => kind === 'release' || details?.effect === 'looser'

/** Creates the line below a headline that says what an operator has done about it, with undo unless it is the remedy. */
export function changeLine(context) {
  const text = el('span', {})
  const undo = el('span', {})
  const element = el('p', { class: 'change-made', hidden: true }, text, ' ', undo)

  return {
    element,
    /** Shows a change, unless the sentence of the headline says it already. */
    show(made, canChange, sentence) {
      element.hidden = made === undefined || isCause(made, sentence)
      if (element.hidden) return
      setText(text, `${made.by} ${withTimes(made.text)} at ${moment(made.atMs)}`)
      const canUndo = canChange && !isRemedy(made)
      setChildren(undo, `${made.id}/${canUndo}`, () => [canUndo && undoOf(made, context)].filter(Boolean))
    },
  }
}

/** Returns the button that undoes the change of settings which an event is about; `undefined` if nothing can be undone. */
export function undoOf({ limiter, by = 'an unknown operator', text, details }, context) {
  const { change, parts } = details ?? {}
  if (change === undefined || parts === 0) return undefined
  const what = changeWords(spelled(by), withTimes(text))
  return undoButton(`Undo what ${spelled(by)} did`, { limiter, what, body: { change } }, context)
}
