import { textOf } from './confirm-dialog.js'
import { el, setChildren, setText } from './dom.js'
import { limitFields } from './edit-fields.js'
import { editedParts } from './edited-parts.js'
import { DAY_MS } from './finding-actions.js'
import { inForceList } from './in-force.js'
import { overrideDialog } from './override-dialog.js'
import { previewText } from './preview-text.js'
import { randomId } from './random-id.js'
import { addressOf } from './route.js'
import { post } from './server.js'
import { historyPanel, partText } from './settings-history.js'

const TYPING_MS = 400

/** Creates the view in which the settings of a limiter are changed: numbers, mode, candidate and overrides. */
export function editView(limiter, { actions, onDone }) {
  const problem = el('p', { class: 'problem', role: 'alert', hidden: true })
  const fields = el('div', { class: 'fields' })
  const preview = el('ul', { class: 'preview', 'aria-live': 'polite' })
  const conflict = el('div', { class: 'conflict', role: 'alert', hidden: true })
  const reason = el('input', { name: 'reason', required: true, maxlength: '500' })
  const name = el('input', { name: 'by', maxlength: '200', autocomplete: 'name' })
  const naming = el('label', {}, 'Your name, for the history', name)
  const save = el('button', { type: 'submit' }, 'Save')
  const ending = el(
    'div',
    { class: 'ending' },
    el('label', {}, 'Reason, for the history', reason),
    naming,
    save,
  )
  const form = el('form', { onsubmit: submit, oninput: changed }, fields, preview, conflict, problem, ending)
  const overrides = inForceList({ limiter, actions, onDone })
  const adding = targetForm()
  const history = historyPanel({ limiter, actions, onDone: (text) => void load().then(() => onDone(text)) })
  const back = el('a', { class: 'back', href: addressOf({ view: 'limiter', name: limiter }) }, limiter)
  const element = el(
    'section',
    { class: 'page edit', 'aria-labelledby': 'edit-title' },
    back,
    el('h1', { id: 'edit-title', tabindex: '-1' }, `Edit the limits of ${limiter}`),
    form,
    el(
      'section',
      { class: 'panel', 'aria-label': 'In force' },
      el('h2', {}, 'In force'),
      adding.element,
      overrides.element,
    ),
    history.element,
  )
  let settings
  let read
  let id = randomId()
  let timer
  let canChange = false

  /** Reads the settings. What was typed stays if `keeps` is set. */
  async function load(keeps = false) {
    try {
      settings = await post('settings', { limiter })
    } catch (error) {
      return showProblem(error)
    }
    history.show(settings.changes, canChange)
    if (!keeps) showFields()
    overrides.open()
  }

  function showFields() {
    const { codeLimits, document, mode } = settings
    const choice = el('select', { name: 'mode' }, ...modeOptions(document.mode, mode))
    const own = codeLimits.map(({ name: each, policy: spec }) => [
      each,
      limitFields(each, { spec, value: document.limits[each], prefix: `limits.${each}` }),
    ])
    const tried = codeLimits.map(({ name: each, policy: spec }) => [
      each,
      limitFields(`${each}, as a candidate`, {
        spec,
        value: document.candidate?.limits[each],
        prefix: `candidate.${each}`,
      }),
    ])
    read = () => ({
      mode: choice.value === '' ? undefined : choice.value,
      limits: { ...othersOf(document.limits, own), ...valuesOf(own) },
      candidate: candidateOf(document.candidate, tried),
    })
    fields.replaceChildren(
      el('label', { class: 'mode' }, 'Mode', choice),
      ...own.map(([, { element: each }]) => each),
      el(
        'details',
        { open: document.candidate !== undefined },
        el('summary', {}, 'Candidate: try other numbers without enforcing them'),
        ...tried.map(([, { element: each }]) => each),
      ),
    )
    allow()
    preview.replaceChildren()
    conflict.hidden = true
    save.textContent = 'Save'
  }

  function changed() {
    id = randomId()
    clearTimeout(timer)
    timer = setTimeout(showPreview, TYPING_MS)
  }

  async function showPreview() {
    try {
      const parts = editedParts(settings.document, read())
      const { limits } = parts.length === 0 ? { limits: [] } : await post('preview', { limiter, parts })
      problem.hidden = true
      setChildren(preview, JSON.stringify(limits), () =>
        limits.map((each) => el('li', {}, previewText(each))),
      )
    } catch (error) {
      showProblem(error)
    }
  }

  async function submit(event) {
    event.preventDefault()
    if (save.getAttribute('aria-busy') === 'true' || settings === undefined) return
    save.setAttribute('aria-busy', 'true')
    problem.hidden = true
    try {
      const parts = editedParts(settings.document, read())
      if (parts.length === 0) throw new Error('Nothing is changed.')
      const author = { ...actions.nameOf(name.value), reason: reason.value.trim(), id }
      await post('save', { limiter, parts, base: settings.base, ...author })
      reason.value = ''
      await load()
      onDone(`Saved the settings of ${limiter}.`)
    } catch (error) {
      if (error.conflicts === undefined) showProblem(error)
      else await showConflict(error)
    }
    save.removeAttribute('aria-busy')
  }

  /** Shows what another operator has changed meanwhile. What was typed stays, and is applied on top if saved again. */
  async function showConflict({ conflicts, message }) {
    await load(true)
    id = randomId()
    const lines = conflicts.map(({ path, before, theirs, yours, change }) => {
      const who = change === undefined ? 'Another operator' : `${change.by} (“${change.reason}”)`
      return el(
        'li',
        {},
        `${path}: it was ${partText(before)}. ${who} made it ${partText(theirs)}. Yours is ${partText(yours)}.`,
      )
    })
    conflict.replaceChildren(
      el('p', {}, 'Another operator has changed the same meanwhile. Nothing is saved yet.'),
      lines.length > 0 ? el('ul', {}, ...lines) : el('p', {}, message),
      el('p', {}, 'Save on top to replace their values by yours, or load theirs.'),
      el('button', { type: 'button', onclick: () => void load() }, 'Load theirs'),
    )
    conflict.hidden = false
    save.textContent = 'Save on top'
  }

  function showProblem(error) {
    setText(problem, textOf(error))
    problem.hidden = false
  }

  function targetForm() {
    const target = el('input', { name: 'target', required: true, autocomplete: 'off', spellcheck: 'false' })
    const effect = el(
      'select',
      { name: 'effect', 'aria-label': 'What to do' },
      ...['block', 'exempt', 'raise'].map((each) => el('option', { value: each }, each)),
    )
    const onsubmit = (event) => {
      event.preventDefault()
      const text = target.value.trim()
      overrideDialog({
        actions,
        limiter,
        effect: effect.value,
        targets: [{ identity: text }],
        who: text,
        durationMs: DAY_MS,
        reason: '',
        onDone(done) {
          target.value = ''
          void load(true)
          onDone(done)
        },
      })
    }
    return {
      element: el(
        'form',
        { class: 'bar adding', onsubmit },
        el('label', {}, 'Client, address or network', target),
        effect,
        el('button', { type: 'submit', class: 'quiet-submit' }, 'Continue…'),
      ),
    }
  }

  /** Disables what changes something for whoever may only see it. */
  function allow() {
    for (const field of form.querySelectorAll('input, select, textarea')) field.disabled = !canChange
    ending.hidden = !canChange
    adding.element.hidden = !canChange
  }

  function show(model) {
    overrides.show(model)
    const remembered = actions.rememberedName()
    naming.hidden = remembered === undefined
    if (canChange === model.session.canChange) return
    canChange = model.session.canChange
    if (remembered !== undefined && name.value === '') name.value = remembered
    allow()
    if (settings !== undefined) history.show(settings.changes, canChange)
  }

  allow()
  return { element, show, open: () => void load() }
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
