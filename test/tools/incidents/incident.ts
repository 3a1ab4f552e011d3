import type { Page } from 'playwright-core'
import type { Stage } from './stage.js'
import type { Source } from './traffic.js'

/** What the page shows of something, and what the generator has counted. */
export interface Comparison {
  readonly counted: readonly number[]
  readonly shown: readonly number[]
  /** By how much they may differ: rates and shares are of some seconds. Default: 0. */
  readonly tolerance?: number
}

/** An incident: what happens, what the page must say of it, and how an operator ends it. */
export interface Incident {
  readonly name: string
  /** How long traffic is usual before. Default: 5 s. */
  readonly calmMs?: number
  /** Begins. Returns what sends the requests that are denied; none if no request is. */
  begin(stage: Stage): Promise<Source | undefined>
  /**
   * What the first sentence must contain: what, whom and why. It must also have a time of day. If there is nothing to
   * say, no sentence may come.
   */
  readonly says: readonly RegExp[]
  /** What it must not contain. */
  readonly saysNot?: RegExp
  /** The names of the buttons and links that an operator clicks, in order. */
  readonly clicks: readonly RegExp[]
  /** Ends it elsewhere than on the page. */
  end?(stage: Stage): Promise<void>
  /** Returns whether it is solved, by a request of whom it was about, or by what the page says. */
  isSolved(stage: Stage, page: Page): Promise<boolean>
  /** The limiter whose counts must equal those of the source. */
  readonly limiter?: string
  /** Compares other figures of the sentence with those of the generator, before anything is ended. */
  compare?(stage: Stage, sentence: string): Promise<Comparison>
}
