import { addressIdentity } from '../../keys/address.js'
import { asStoreError } from '../../stores/store-error.js'
import type { LimitDemand } from '../../tuning/client-demand.js'
import { timeout } from '../../util/timeout.js'
import { readEditable, readParts, saveParts } from '../actions/edit.js'
import { type LimiterInForce, readInForce } from '../actions/in-force.js'
import { networkNotes, networkWarnings } from '../actions/network-warnings.js'
import { previewEdit, previewOverride } from '../actions/preview.js'
import { proposeRaise } from '../actions/raise.js'
import { readReplaced } from '../actions/replaced-overrides.js'
import { settingsOf } from '../actions/settings-of.js'
import { readTargets } from '../actions/targets.js'
import type { Watched } from '../figures/limiter-watch.js'
import type { PageFigures } from '../figures/shown.js'
import { attempt, attemptRead } from './attempt.js'
import { type Body, readBase, readChangeAuthor, readEffect } from './read-change.js'

/** Who sends an action. */
export interface Sender {
  /** Whom the option `operator` names. */
  readonly operator: string | undefined
  readonly req: unknown
}

/** The figures that actions need. */
export interface ActionFigures extends Pick<PageFigures, 'record' | 'asOfNow'> {
  /** Reads what the clients of each limit of a limiter asked for in the last 12 to 24 hours. */
  demands(limiter: string): Promise<readonly LimitDemand[]>
}

/** How long an answer waits for figures that it can do without. */
const PATIENCE_MS = 1000

const withinPatience = timeout(PATIENCE_MS)

/** Creates the actions on settings of limiters. They reject with a `RequestError`. */
export function settingsActions(
  limiters: readonly Watched[],
  find: (name: unknown) => Watched,
  figures: ActionFigures,
) {
  /**
   * What the page proposes, before an operator overrides the limits of clients, and what that would replace. `base`
   * is absent if the settings could not be read.
   */
  async function proposal({ limiter, targets: given }: Body, { req }: Sender): Promise<object> {
    const watched = find(limiter)
    const targets = await attemptRead(async () => readTargets(given))
    const replaced = async () => settingsOf(watched) && readReplaced(watched, targets)
    const [shown, demands, replaces] = await Promise.all([
      figures.asOfNow(),
      withinPatience(figures.demands(watched.name)).catch(() => undefined),
      withinPatience(replaced()).catch(() => undefined),
    ])
    const { limits = [], denied = [] } = shown.detail(watched.name) ?? {}
    const operatorAddress = addressOf(watched, req)
    const around = { operatorAddress, demands, denied: new Set(denied.map(({ identity }) => identity)) }
    return {
      raises: proposeRaise({ limits, denied, demands: demands ?? [] }, targets),
      warnings: await attemptRead(async () => networkWarnings(targets, around)),
      notes: networkNotes(targets, around),
      mode: watched.limiter.mode,
      ...replaces,
    }
  }

  /** What is in force in one limiter, or in all. */
  async function inForce({ limiter }: Body): Promise<object> {
    const wanted = limiter === undefined ? limiters : [find(limiter)]
    const shown = await figures.asOfNow()
    const events = shown.events()
    const read = (watched: Watched): Promise<LimiterInForce> => {
      const { denied = [] } = shown.detail(watched.name) ?? {}
      const identities = denied.map(({ identity }) => identity)
      return readInForce(watched, { identities, events })
    }
    return { limiters: await Promise.all(wanted.map(read)) }
  }

  const settings = ({ limiter }: Body) => attemptRead(() => readEditable(find(limiter)))

  /** What an edit, or an override of some clients, would have done. */
  async function preview(body: Body): Promise<object> {
    const watched = find(body.limiter)
    return attemptRead(async () => {
      const previewWith = previewOf(watched, body)
      const demands = await withinPatience(figures.demands(watched.name)).catch((error) => {
        throw asStoreError(watched.inspection.store.name, error)
      })
      return previewWith(demands)
    })
  }

  async function save(body: Body, { operator }: Sender): Promise<object> {
    const watched = find(body.limiter)
    const author = readChangeAuthor(body, operator)
    const base = readBase(body.base)
    await attempt(async () => saveParts(watched, readParts(body.parts), base, author))
    return {}
  }

  return { proposal, 'in-force': inForce, settings, preview, save }
}

/** Returns the preview of the change in a request, as a function of the demands that it is tried on. */
function previewOf(watched: Watched, body: Body) {
  if (body.targets === undefined) {
    const parts = readParts(body.parts)
    return (demands: readonly LimitDemand[]) => previewEdit(watched, parts, demands)
  }
  const [targets, effect] = [readTargets(body.targets), readEffect(body)]
  return (demands: readonly LimitDemand[]) => previewOverride(watched, targets, effect, demands)
}

/** Returns the address that the request of an operator came from, as a limiter reads it. */
function addressOf({ inspection }: Watched, req: unknown): string | undefined {
  try {
    const address = inspection.addressOf(req)
    return address && addressIdentity(address, 128).replace(/\/128$/, '')
  } catch {
    return undefined
  }
}
