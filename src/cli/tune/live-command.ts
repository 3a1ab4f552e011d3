import { ForeignDocumentError } from '../../dashboard/shared/shared-document.js'
import { messageOf, StoreError } from '../../stores/store-error.js'
import type { Proposal } from '../../tuning/proposal.js'
import { propose } from '../../tuning/propose.js'
import { InputError } from '../failures.js'
import { isoTime, jsonText, printable, row, timeText } from '../output.js'
import { type OpenStore, openStore } from '../settings/open-store.js'
import { type LiveRequest, parseLiveArguments } from './live-arguments.js'
import { readLimiterNames, readLiveDemands } from './live-demand.js'
import { proposalLines, shellWord } from './proposal-text.js'
import { runTrialAction } from './trial-command.js'

/** Runs `headgate tune` on a store. Returns what it prints. */
export async function liveCommand(args: readonly string[]): Promise<string> {
  const request = parseLiveArguments(args, process.env)
  const opened = await openStore(request.store, request.keyPrefix, 'tune')
  try {
    return request.action === 'propose'
      ? await proposeAll(opened, request)
      : await runTrialAction(opened, request)
  } catch (error) {
    if (!isFailure(error)) throw error
    throw new InputError(opened.shown(messageOf(error)))
  } finally {
    await opened.close()
  }
}

function isFailure(error: unknown): boolean {
  return [StoreError, TypeError, ForeignDocumentError].some((type) => error instanceof type)
}

/** A limiter, with a proposal for each of its limits whose clients are counted. */
interface Proposed {
  readonly limiter: string
  readonly proposals: readonly Proposal[]
}

async function proposeAll(opened: OpenStore, request: LiveRequest): Promise<string> {
  const { prefix, limiter, json } = request
  const names = limiter === undefined ? await readLimiterNames(opened, prefix) : [limiter]
  if (names.length === 0)
    throw new InputError(`no dashboard has reported under the prefix ${prefix} in the last 15 minutes`)
  const all: Proposed[] = []
  for (const name of names) {
    const demands = await readLiveDemands(opened, prefix, name)
    all.push({ limiter: name, proposals: demands.map(propose) })
  }
  if (limiter !== undefined && all.every(({ proposals }) => proposals.length === 0))
    throw new InputError(
      `no dashboard has counted clients of ${limiter} under the prefix ${prefix}: it reports them every five minutes`,
    )
  if (json) return jsonText({ limiters: all })
  return `${all.flatMap((each) => sectionsOf(each, request)).join('\n\n')}\n`
}

/** Returns the sections about a limiter, for people. */
function sectionsOf({ limiter, proposals }: Proposed, request: LiveRequest): readonly string[] {
  if (proposals.length === 0)
    return [`${row('limiter', printable(limiter))}\n${row('clients', 'not counted yet')}`]
  return proposals.flatMap((proposal) => {
    const { limitName, fromMs, toMs, clients } = proposal
    const head = [
      row('limiter', printable(limiter)),
      ...(limitName === limiter ? [] : [row('limit', printable(limitName))]),
      row('counted', `${timeText(isoTime(fromMs))} to ${timeText(isoTime(toMs))}`),
      row('clients', clients.toLocaleString('en-US')),
    ]
    const lines = [head, ...proposalLines(proposal), tryLines(limiter, proposal, request)]
    return lines.filter((each) => each.length > 0).map((each) => each.join('\n'))
  })
}

/** Returns the command that tries a proposal, if it changes anything. */
function tryLines(
  limiter: string,
  { limit, limitName, verdict }: Proposal,
  { given }: Pick<LiveRequest, 'given'>,
): readonly string[] {
  if (limit === undefined || verdict === 'keep') return []
  const name = limitName === limiter ? [] : ['--name', limitName]
  const words = [
    'npx headgate tune start',
    storeWord(given),
    limiter,
    ...name.map(shellWord),
    '--limit',
    limit,
  ]
  return [row('to try it', `${words.join(' ')} --reason <text>`)]
}

/** A URL may have a password, which is not shown. */
function storeWord(given: string): string {
  return given.includes('@') ? '<store>' : shellWord(given)
}
