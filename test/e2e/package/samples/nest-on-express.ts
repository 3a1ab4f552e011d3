import { NestFactory } from '@nestjs/core'
import { AppModule } from './nest-module.js'

const app = await NestFactory.create(AppModule)
await app.listen(Number(process.env.PORT), '127.0.0.1')
