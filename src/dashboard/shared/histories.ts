import type { Documents } from '../../stores/documents.js'
import type { LimiterWatch } from '../figures/limiter-watch.js'
import type { LeftBehind } from './left-behind.js'
import { type LimiterHistory, limiterHistory } from './limiter-history.js'
import type { ProcessDocument } from './process-document.js'
import { ForeignDocumentError } from './shared-document.js'

/** The histories of the limiters of a group. A document that is not ours stops none but its own. */
export class Histories {
  /** By the name of the limiter. */
  readonly byName: ReadonlyMap<string, LimiterHistory>

  constructor(
    documents: Documents,
    prefix: string,
    watches: readonly LimiterWatch[],
    process: string,
    nowMs: number,
  ) {
    const histories = watches.map(
      (watch) => [watch.name, limiterHistory(documents, prefix, watch, process, nowMs)] as const,
    )
    this.byName = new Map(histories)
  }

  /** Adds the steps that are over. */
  add(nowMs: number): Promise<void> {
    return this.#each((history) => history.add(nowMs))
  }

  /** Adds the step that has begun also. */
  close(nowMs: number): Promise<void> {
    return this.#each((history) => history.close(nowMs))
  }

  /** Adds what processes that were killed had counted of steps that they could not add. */
  async adopt(left: LeftBehind, documents: readonly ProcessDocument[], nowMs: number): Promise<void> {
    for (const { header, limiters = [] } of left.due(nowMs, documents)) {
      let isDone = true
      await this.#each(async (history, name) => {
        const figures = limiters.find((each) => each.name === name)
        if (figures !== undefined && !(await history.adopt(header.id, figures).catch(orForeign)))
          isDone = false
      })
      if (isDone) left.adopted(header)
    }
  }

  async #each(run: (history: LimiterHistory, limiter: string) => Promise<void>): Promise<void> {
    let foreign: unknown
    for (const [limiter, history] of this.byName) {
      await run(history, limiter).catch((error) => {
        if (!(error instanceof ForeignDocumentError)) throw error
        foreign = error
      })
    }
    if (foreign !== undefined) throw foreign
  }
}

/** A document that is not ours never takes steps. */
function orForeign(error: unknown): true {
  if (error instanceof ForeignDocumentError) return true
  throw error
}
