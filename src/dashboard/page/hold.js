/** A reader who has not moved for so long is not reading any more. */
const READING_MS = 30_000

/**
 * Returns a function that says whether somebody reads a list at present: the pointer is over it, or the focus or a
 * selection is in it. Nothing in it may change places then.
 */
export function holdOf(list) {
  let isOver = false
  let movedAtMs = Number.NEGATIVE_INFINITY
  const note = () => {
    movedAtMs = performance.now()
  }
  list.addEventListener('pointermove', ({ pointerType }) => {
    isOver = pointerType !== 'touch'
    note()
  })
  list.addEventListener('pointerdown', note)
  list.addEventListener('pointerleave', () => {
    isOver = false
  })
  list.addEventListener('focusin', note)
  document.addEventListener('keydown', note)
  addEventListener('scroll', note, { passive: true })

  return () => {
    if (performance.now() - movedAtMs > READING_MS) return false
    const selection = getSelection()
    const isSelecting = selection !== null && !selection.isCollapsed && list.contains(selection.anchorNode)
    return isOver || isSelecting || list.contains(document.activeElement)
  }
}
