import { propose } from '../../tuning/propose.js'
import { jsonText } from '../output.js'
import { replayAll } from '../replay/command.js'
import { reportOf } from '../replay/report.js'
import { inputLines } from '../replay/report-text.js'
import { parseTuneArguments } from './arguments.js'
import { loggedDemand } from './logged-demand.js'
import { commandText, proposalLines } from './proposal-text.js'

export const TUNE_HELP = `Usage: headgate tune <log>... --window <time> [options]

Proposes a limit from what the clients in access logs asked for. Sets clients apart whose demand is out of all
proportion, such as scrapers, and names those that the limit would deny.

Reads the same logs as headgate replay, in any order. - is standard input.

  --window <time>   the window of the limit, such as 10s, 1m or 24h
  --limit <n>       the limit in force, which may be kept, raised or lowered
  --key <keys>      what identifies a client: ip (default), user, path or field:NAME (in JSON lines), or
                    several, such as ip,path
  --only <route>    learn only from these requests, such as 'POST /login' or '/api/*'; may be repeated
  --format <format> how lines are written, as in headgate replay
  --trust-proxy <p> the proxies that forward clients' addresses, as in headgate replay
  --json            print one JSON object

Exit codes: 0 done, 1 an input failed, 2 wrong arguments.
`

/** Runs `headgate tune`. Returns what it prints. */
export async function tuneCommand(args: readonly string[]): Promise<string> {
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
