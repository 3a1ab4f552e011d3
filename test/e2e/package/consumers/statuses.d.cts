import type { Server } from 'node:http'

export function statusesOf(server: Server): Promise<string>
