import { textOf } from './confirm-dialog.js'
import { conflictTexts } from './conflict-texts.js'
import { el, setText } from './dom.js'
import { editedParts } from './edited-parts.js'
import { followedRead } from './followed-read.js'
import { inForceList } from './in-force.js'
import { livePreview } from './live-preview.js'
import { randomId } from './random-id.js'
import { addressOf } from './route.js'
import { ask, post } from './server.js'
import { settingsFields } from './settings-fields.js'
import { historyPanel } from './settings-history.js'
import { targetForm } from './target-form.js'

/** Creates the view in which the settings of a limiter are changed: numbers, mode, candidate and overrides. */
export function editView(limiter, { actions, onDone }) {
  const problem = el('p', { class: 'problem', role: 'alert', hidden: true })
  const fields = el('div', { class: 'fields' })
  const preview = livePreview(asPreview)
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
  const form = el(
    'form',
    { onsubmit: submit, oninput: changed },
    fields,
    preview.element,
    conflict,
    problem,
    ending,
  )
  const overrides = inForceList({ limiter, actions, onDone: reloadAnd(() => load()) })
  const adding = targetForm({ actions, onDone: reloadAnd(loadAll) })
  const history = historyPanel({ limiter, actions, onDone: reloadAnd(loadAll) })
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
  /** What the fields were filled from, which edits differ from. */
  let filled
  /** The version that a change is based on: that of `filled`, until a conflict with a later one has been shown. */
  let base
  let read
  let id = randomId()
  let canChange = false
  /** Why the settings could not be read. */
  let unread
  const { load, follow } = followedRead({
    read: readSettings,
    concerns: (event) => event.kind === 'settings' && event.limiter === limiter,
    includes: ({ details }) => settings?.changes.some(({ id }) => id === details?.change),
  })

  /** Reads the settings. What an operator has typed stays unless `keeps` is false, and may conflict when it is saved. */
  async function readSettings(isLatest, keeps) {
    const reply = await ask('settings', { limiter }).catch((error) => error)
    if (!isLatest()) return false
    if (reply instanceof Error) {
      unread = reply.message
      showProblem(reply)
      return false
    }
    settings = reply
    if (problem.textContent === unread) problem.hidden = true
    history.show(settings.changes, canChange)
    if (!(keeps ?? isEdited())) showFields()
    return true
  }

  function loadAll(keeps) {
    return Promise.all([load(keeps), overrides.load()])
  }

  /** Returns what reads again after a change, and then says what was done. */
  function reloadAnd(reload) {
    return (...done) => void reload().then(() => onDone(...done))
  }

  function showFields() {
    filled = settings.document
    base = settings.base
    const { elements, read: readFields } = settingsFields(settings)
    read = readFields
    fields.replaceChildren(...elements)
    allow()
    void preview.load()
    conflict.hidden = true
    save.textContent = 'Save'
  }

  function changed() {
    id = randomId()
    preview.typed()
  }

  function asPreview() {
    const parts = filled === undefined ? [] : editedParts(filled, read())
    return parts.length === 0 ? undefined : { limiter, parts }
  }

  async function submit(event) {
    event.preventDefault()
    if (save.getAttribute('aria-busy') === 'true' || filled === undefined) return
    save.setAttribute('aria-busy', 'true')
    problem.hidden = true
    try {
      const parts = editedParts(filled, read())
      if (parts.length === 0) throw new Error('There are no changes to save.')
      const author = { ...actions.nameOf(name.value), reason: reason.value.trim(), id }
      await post('save', { limiter, parts, base, ...author })
      reason.value = ''
      await loadAll(false)
      onDone(`Saved the settings of ${limiter}.`)
    } catch (error) {
      if (error.conflicts === undefined) showProblem(error)
      else await showConflict(error)
    }
    save.removeAttribute('aria-busy')
  }

  /** Shows what another operator has changed meanwhile. What was typed stays, and is applied on top if saved again. */
  async function showConflict({ conflicts, message, base: latest }) {
    await load(true)
    base = latest
    id = randomId()
    conflict.replaceChildren(...conflictTexts({ conflicts, message }, () => void load(false)))
    conflict.hidden = false
    save.textContent = 'Save anyway'
  }

  function showProblem(error) {
    setText(problem, textOf(error))
    problem.hidden = false
  }

  /** Disables what changes something for whoever may only see it. */
  function allow() {
    for (const field of form.querySelectorAll('input, select, textarea')) field.disabled = !canChange
    ending.hidden = !canChange || filled === undefined
  }

  function isEdited() {
    try {
      return filled !== undefined && editedParts(filled, read()).length > 0
    } catch {
      return true // what was typed cannot be read yet
    }
  }

  function show(model) {
    overrides.show(model)
    if (model.isKnown) follow(model.events)
    adding.show(model.rows.get(limiter), model.session.canChange)
    const remembered = actions.rememberedName()
    naming.hidden = remembered === undefined
    if (canChange === model.session.canChange) return
    canChange = model.session.canChange
    if (remembered !== undefined && name.value === '') name.value = remembered
    allow()
    if (settings !== undefined) history.show(settings.changes, canChange)
  }

  allow()
  return { element, show }
}
