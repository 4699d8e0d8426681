package main

type demoCommand struct{}

func (*demoCommand) Run(std *streams) error { return nil }
