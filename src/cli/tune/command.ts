import { propose } from '../../tuning/propose.js'
import { jsonText } from '../output.js'
import { replayAll } from '../replay/command.js'
import { reportOf } from '../replay/make-report.js'
import { inputLines } from '../replay/report-text.js'
import { parseTuneArguments } from './arguments.js'
import { isLive } from './live-arguments.js'
import { liveCommand } from './live-command.js'
import { loggedDemand } from './logged-demand.js'
import { commandText, proposalLines } from './proposal-text.js'

/** Runs `headgate tune`. Returns what it prints. */
export async function tuneCommand(args: readonly string[]): Promise<string> {
  if (isLive(args)) return liveCommand(args)
  const { replay: settings, windowMs, limit } = parseTuneArguments(args)
  const replay = await replayAll(settings)
  const proposal = propose(loggedDemand(replay, windowMs, limit))
  const report = reportOf(replay, settings)
  if (settings.json) {
    const { limits: _limits, histogram: _histogram, suggestions: _suggestions, ...read } = report
    return jsonText({ ...read, proposal })
  }
  const sections = [inputLines(report), ...proposalLines(proposal), commandText(proposal, args)]
  return `${sections.map((lines) => lines.join('\n')).join('\n\n')}\n`
}
