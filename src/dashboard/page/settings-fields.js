import { el } from './dom.js'
import { limitFields } from './edit-fields.js'

/**
 * Creates the fields for mode, numbers and candidate of a limiter. `read()` returns them as a document without
 * overrides.
 */
export function settingsFields({ codeLimits, document, mode }) {
  const choice = el('select', { name: 'mode' }, ...modeOptions(document.mode, mode))
  const fieldsFor = (limits, prefix, labelOf) =>
    codeLimits.map(({ name, policy: spec }) => {
      const value = Object.hasOwn(limits, name) ? limits[name] : undefined
      return [name, limitFields(labelOf(name), { spec, value, prefix: `${prefix}.${name}` })]
    })
  const own = fieldsFor(document.limits, 'limits', (name) => name)
  const tried = fieldsFor(document.candidate?.limits ?? {}, 'candidate', (name) => `${name}, as a candidate`)
  const elementsOf = (fields) => fields.map(([, { element }]) => element)
  const summary = el('summary', {}, 'Candidate: try other numbers without enforcing them')
  return {
    elements: [
      el('label', { class: 'mode' }, 'Mode', choice),
      ...elementsOf(own),
      el('details', { open: document.candidate !== undefined }, summary, ...elementsOf(tried)),
    ],
    read: () => ({
      mode: choice.value === '' ? undefined : choice.value,
      limits: { ...othersOf(document.limits, own), ...valuesOf(own) },
      candidate: candidateOf(document.candidate, tried),
    }),
  }
}

function modeOptions(chosen, inForce) {
  const choices = [
    ['', `as in the code${chosen === undefined ? ` (${inForce})` : ''}`],
    ['enforce', 'enforce'],
    ['report', 'report: deny nothing'],
  ]
  return choices.map(([value, text]) => el('option', { value, selected: value === (chosen ?? '') }, text))
}

/** Returns the settings of limits that the code does not have: they stay. */
function othersOf(limits, fields) {
  const names = fields.map(([name]) => name)
  return Object.fromEntries(Object.entries(limits).filter(([name]) => !names.includes(name)))
}

function valuesOf(fields) {
  const read = fields.map(([name, field]) => [name, field.read()])
  return Object.fromEntries(read.filter(([, value]) => value !== undefined))
}

function candidateOf(candidate, fields) {
  const limits = { ...othersOf(candidate?.limits ?? {}, fields), ...valuesOf(fields) }
  return Object.keys(limits).length === 0 ? undefined : { limits }
}
