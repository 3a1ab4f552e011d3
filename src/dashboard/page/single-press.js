/**
 * Has one press do one thing: a key that is held down, and the second click of a double click, press no button. What
 * is below them by then, such as the button that confirms, was not there when the press began.
 */
export function connectSinglePress() {
  addEventListener('keydown', ignoreHeld, { capture: true })
  addEventListener('click', ignoreRepeated, { capture: true })
}

/** Held in a field, Enter would send its form again and again. */
function ignoreHeld(event) {
  const { repeat, key, target } = event
  const presses = key === 'Enter' || (key === ' ' && target.matches('button'))
  if (repeat && presses && !target.matches('textarea')) event.preventDefault()
}

function ignoreRepeated(event) {
  if (event.detail < 2 || !event.target.closest('button')) return
  event.preventDefault()
  event.stopPropagation()
}
