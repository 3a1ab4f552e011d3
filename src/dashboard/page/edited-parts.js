/**
 * Returns the parts of a document that differ from what the fields have: `{ path, value }`, with `null` for one that
 * is removed.
 */
export function editedParts({ mode, limits = {}, candidate }, edited) {
  const names = new Set([...Object.keys(limits), ...Object.keys(edited.limits)])
  const pairs = [
    ['mode', mode, edited.mode],
    ...Array.from(names, (name) => [`limits.${name}`, ownOf(limits, name), ownOf(edited.limits, name)]),
    ['candidate', candidate, edited.candidate],
  ]
  return pairs
    .filter(([, before, after]) => sorted(before) !== sorted(after))
    .map(([path, , after]) => ({ path, value: after ?? null }))
}

/** A limit may be called like a property of all objects. */
const ownOf = (limits, name) => (Object.hasOwn(limits, name) ? limits[name] : undefined)

/** Returns a value as text, whatever the order of its fields. */
function sorted(value) {
  return JSON.stringify(value, (_, each) =>
    typeof each === 'object' && each !== null && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1)))
      : each,
  )
}
