import { memoryStore } from 'headgate/hono'

export const store = memoryStore()
