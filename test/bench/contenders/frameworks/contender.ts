import type { Server } from 'node:http'

/** What a limiter is made for. Its headers are the legacy ones, and its counts are in memory. */
export interface LimitSetting {
  readonly limit: number
  readonly windowMs: number
}

/** Starts to build a server that says hello behind a limiter, or without one. It does not listen yet. */
export type ServerMaker = (setting: LimitSetting) => Server | Promise<Server>

/**
 * The servers of a framework, by what limits them: nothing, headgate, and what the framework's users take.
 */
export interface FrameworkContenders {
  readonly nothing: ServerMaker
  readonly headgate: ServerMaker
  readonly usual: ServerMaker
}
