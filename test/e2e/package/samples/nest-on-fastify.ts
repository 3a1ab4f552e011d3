import { NestFactory } from '@nestjs/core'
import { FastifyAdapter } from '@nestjs/platform-fastify'
import { AppModule } from './nest-module.js'

const app = await NestFactory.create(AppModule, new FastifyAdapter())
await app.listen(Number(process.env.PORT), '127.0.0.1')
