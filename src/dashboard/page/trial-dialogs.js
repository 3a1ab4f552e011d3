import { confirmDialog } from './confirm-dialog.js'
import { el } from './dom.js'
import { count } from './format.js'
import { post } from './server.js'
import { LENGTHS } from './ways.js'

const SHARES = [
  ['0.1%', 0.001],
  ['1%', 0.01],
  ['5%', 0.05],
]

/** Opens a dialog that starts the trial of a proposed limit. */
export function startTrialDialog({ limiter, proposal, defaults, actions, onDone }) {
  const { limitName, limit, inForce, reason } = proposal
  const number = el('input', { type: 'number', min: '1', step: '1', required: true, value: String(limit) })
  const watch = choice(LENGTHS, defaults.watchMs)
  const guard = choice(LENGTHS, defaults.guardMs)
  const share = choice(SHARES, defaults.maxHarmedShare)
  confirmDialog({
    title: `Try another limit for ${limitName} in ${limiter}`,
    verb: 'Start the trial',
    reason,
    actions,
    onDone,
    content: [
      el(
        'p',
        { class: 'quiet' },
        'The limit runs as a candidate, which denies no client, and then waits for approval.',
      ),
      el('label', {}, `Limit${inForce === undefined ? '' : `, instead of ${count(inForce)}`}`, number),
      el('label', {}, 'Run it as a candidate for', watch),
      el('label', {}, 'After approval, revert it within', guard),
      el('label', {}, 'if the share of denied clients in good standing rises by more than', share),
    ],
    async run(author) {
      const body = {
        ...{ limiter, limitName, limit: Number(number.value), ...author },
        ...{
          watchMs: Number(watch.value),
          guardMs: Number(guard.value),
          maxHarmedShare: Number(share.value),
        },
      }
      await post('start-trial', body)
      return `Started a trial of ${count(body.limit)} for ${limitName} in ${limiter}.`
    },
  })
}

const STEPS = {
  approve: {
    verb: 'Approve',
    action: 'approve-trial',
    done: 'Approved',
    reason: 'the candidate worked as intended',
  },
  stop: { verb: 'Stop', action: 'stop-trial', done: 'Stopped', reason: 'no longer needed' },
}

/** Opens a dialog that approves a trial, or stops it. */
export function stepDialog(step, { limiter, trial, actions, onDone }) {
  const { verb, action, done, reason } = STEPS[step]
  const what = `the trial of ${count(trial.limit)} for ${trial.limitName} in ${limiter}`
  confirmDialog({
    title: `${verb} ${what}`,
    verb,
    reason,
    actions,
    onDone,
    async run(author) {
      await post(action, { limiter, ...author })
      return `${done} ${what}.`
    },
  })
}

function choice(options, chosen) {
  return el(
    'select',
    {},
    ...options.map(([text, value]) =>
      el('option', { value: String(value), selected: value === chosen }, text),
    ),
  )
}
