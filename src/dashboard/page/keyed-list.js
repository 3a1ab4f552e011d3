const MOVE = { duration: 220, easing: 'cubic-bezier(0.2, 0, 0, 1)' }
const isStill = matchMedia('(prefers-reduced-motion: reduce)')

/**
 * Keeps the children of an element in step with a list. `create(key)` returns `{ element, show }`, and `show`
 * gets the value whenever it may have changed. Returns `show(entries, isHeld)`: while a list is held, items keep
 * their places, new ones are added at the end, and those that are gone stay.
 */
export function keyedList(holder, create) {
  const items = new Map()

  function place(keys) {
    const before = topsOf(holder)
    const focused = holder.contains(document.activeElement) ? document.activeElement : undefined
    let next = holder.firstElementChild
    for (const key of keys) {
      const { element } = items.get(key)
      if (element === next) next = next.nextElementSibling
      else holder.insertBefore(element, next)
    }
    if (focused !== document.activeElement) focused?.focus({ preventScroll: true })
    if (before) glide(holder, before)
  }

  return function show(entries, isHeld = false) {
    const keys = entries.map(([key]) => key)
    const isPresent = new Set(keys)
    for (const [key, item] of items) {
      if (isPresent.has(key) || isHeld) continue
      item.element.remove()
      items.delete(key)
    }
    for (const [key, value] of entries) {
      let item = items.get(key)
      if (item === undefined) {
        item = create(key)
        items.set(key, item)
        holder.append(item.element)
      }
      if (item.value !== value) {
        item.value = value
        item.show(value)
      }
    }
    if (!isHeld && keys.some((key, i) => holder.children[i] !== items.get(key).element)) place(keys)
  }
}

/** Returns where the visible children are, to let them glide; `undefined` if they should not. */
function topsOf(holder) {
  if (isStill.matches || document.hidden || holder.children.length > 400) return undefined
  return new Map(Array.from(holder.children, (child) => [child, child.offsetTop]))
}

/** Lets children glide from where they were, so that the eye can follow. */
function glide(holder, before) {
  for (const child of holder.children) {
    const from = before.get(child)
    const by = from === undefined ? 0 : from - child.offsetTop
    if (by === 0 || Math.abs(by) >= 2 * innerHeight) continue
    const zIndex = by > 0 ? 1 : 0 // what rises, rises above the others
    child.animate(
      [
        { transform: `translateY(${by}px)`, zIndex },
        { transform: 'none', zIndex },
      ],
      MOVE,
    )
  }
}
