/** A reader who has done nothing for this long has left. */
const READING_MS = 30_000

let activeAtMs = Number.NEGATIVE_INFINITY
for (const type of ['pointermove', 'pointerdown', 'keydown', 'scroll'])
  addEventListener(type, () => (activeAtMs = performance.now()), { passive: true, capture: true })

/**
 * Returns a function that says whether a list is being read: the pointer is over it, or the focus or a selection is
 * in it. Nothing in it may change places then.
 */
export function holdOf(list) {
  let isOver = false
  list.addEventListener('pointermove', ({ pointerType }) => {
    isOver = pointerType !== 'touch'
  })
  list.addEventListener('pointerleave', () => {
    isOver = false
  })

  return () => {
    if (performance.now() - activeAtMs > READING_MS) return false
    const selection = getSelection()
    const isSelecting = selection !== null && !selection.isCollapsed && list.contains(selection.anchorNode)
    return isOver || isSelecting || list.contains(document.activeElement)
  }
}
