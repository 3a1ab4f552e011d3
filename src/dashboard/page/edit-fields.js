import { el } from './dom.js'
import { policy } from './format.js'

/**
 * Creates the fields for the numbers of one limit: a field that is empty leaves the number as it is in the code.
 * Another policy is edited as JSON.
 */
export function limitFields(label, { spec, value, prefix }) {
  if (value?.policy !== undefined) return jsonField(label, value, prefix)
  const limit = el('input', {
    type: 'number',
    name: `${prefix}.limit`,
    min: '1',
    step: '1',
    placeholder: 'as in the code',
  })
  const window = el('input', {
    name: `${prefix}.window`,
    placeholder: 'as in the code',
    autocomplete: 'off',
    size: '12',
  })
  limit.value = value?.limit ?? ''
  window.value = value?.window ?? ''
  return {
    element: el(
      'fieldset',
      { class: 'limit-fields' },
      el('legend', {}, label),
      el('p', { class: 'quiet' }, `In the code: ${specText(spec)}`),
      el('label', {}, 'Limit', limit),
      el('label', {}, 'Window, such as 1m', window),
    ),
    /** Returns the settings of the limit; `undefined` if they are those of the code. */
    read() {
      const [number, length] = [limit.value.trim(), window.value.trim()]
      if (number === '' && length === '') return undefined
      return { ...(number !== '' && { limit: Number(number) }), ...(length !== '' && { window: length }) }
    },
  }
}

function jsonField(label, value, prefix) {
  const text = el('textarea', { name: prefix, rows: '4', spellcheck: 'false' })
  text.value = JSON.stringify(value, null, 1)
  return {
    element: el(
      'fieldset',
      { class: 'limit-fields is-json' },
      el('legend', {}, label),
      el('label', {}, 'Policy, as JSON; leave empty to use the one in the code', text),
    ),
    read() {
      if (text.value.trim() === '') return undefined
      try {
        return JSON.parse(text.value)
      } catch {
        throw new Error(`${label}: this is not JSON.`)
      }
    },
  }
}

/** Returns what a limit allows, from the spec of its policy. */
export function specText(spec) {
  if (spec === undefined) return 'a function chooses the policy'
  const inner = spec.kind === 'ban' ? spec.base : spec
  const windowMs =
    inner.windowMs ?? (inner.intervalMs === undefined ? null : inner.intervalMs * inner.capacity)
  const kind = spec.kind === 'ban' ? `ban-${inner.kind}` : inner.kind
  return policy({ kind, limit: inner.limit ?? inner.capacity, windowMs })
}
