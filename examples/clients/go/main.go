// A backend in Go: starts a run under a request id of its own, follows it over broken connections, and prints what came
// of it. The stubs are generated from proto/ (see the README beside this directory).
//
//	go run . [ADDRESS]
package main

import (
	"context"
	"fmt"
	"io"
	"math/rand"
	"os"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	taoloop "taoloop.dev/api/v1"
)

const (
	question     = "订单 20260308000012345 的快递到哪里了？"
	firstPause   = 100 * time.Millisecond
	longestPause = 2 * time.Second
)

// pause returns how long to wait before a call is made again; false where that is of no use.
func pause(err error, failures int) (time.Duration, bool) {
	said := status.Convert(err)
	told := time.Duration(-1)
	for _, detail := range said.Details() {
		if info, ok := detail.(*errdetails.RetryInfo); ok {
			told = info.GetRetryDelay().AsDuration()
		}
	}
	switch {
	case said.Code() == codes.ResourceExhausted && told < 0:
		return 0, false // too large, for example: the same again fails again
	case said.Code() != codes.Unavailable && said.Code() != codes.Aborted && said.Code() != codes.ResourceExhausted:
		return 0, false
	case told >= 0:
		return told + time.Duration(rand.Int63n(int64(told/5+firstPause))), true
	}
	longest := firstPause << uint(failures)
	if longest > longestPause || longest <= 0 {
		longest = longestPause
	}
	return time.Duration(rand.Int63n(int64(longest))), true
}

// repeatedly makes a call until it succeeds, fails for good, or has no time left.
func repeatedly(ctx context.Context, call func() error) error {
	for failures := 0; ; failures++ {
		err := call()
		if err == nil {
			return nil
		}
		wait, again := pause(err, failures)
		if !again {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(wait):
		}
	}
}

// follow passes every event of a run on once, in order, until the run ends or rests.
func follow(ctx context.Context, client taoloop.LoopServiceClient, runID string, on func(*taoloop.RunEvent)) error {
	next := int64(1)
	return repeatedly(ctx, func() error {
		stream, err := client.Watch(ctx, &taoloop.WatchRequest{RunId: runID, FromSequence: next})
		if err != nil {
			return err
		}
		for {
			reply, err := stream.Recv()
			if err == io.EOF {
				return nil
			}
			if err != nil {
				return err
			}
			if event := reply.GetEvent(); event.GetSequence() >= next {
				next = event.GetSequence() + 1
				on(event)
			}
		}
	})
}

func run(address string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	// On a network use grpc.WithTransportCredentials. Calls are spread over the addresses of a headless service.
	connection, err := grpc.Dial(address, grpc.WithInsecure(),
		grpc.WithDefaultServiceConfig(`{"loadBalancingConfig": [{"round_robin": {}}]}`))
	if err != nil {
		return err
	}
	defer connection.Close()
	client := taoloop.NewLoopServiceClient(connection)

	// The same request id with the same task attaches to the run, so that starting it again is safe.
	task := &taoloop.Task{
		RequestId: fmt.Sprintf("go-%d", time.Now().UnixNano()),
		Turns:     []*taoloop.Turn{{Role: taoloop.Role_ROLE_USER, Text: question}},
		TimeZone:  "Asia/Shanghai",
	}
	var runID string
	if err := repeatedly(ctx, func() error {
		reply, err := client.Submit(ctx, &taoloop.SubmitRequest{Task: task})
		runID = reply.GetRunId()
		return err
	}); err != nil {
		return err
	}
	return follow(ctx, client, runID, func(event *taoloop.RunEvent) {
		switch body := event.GetBody().(type) {
		case *taoloop.RunEvent_StepStarted:
			fmt.Println(event.GetSequence(), "calls", body.StepStarted.GetTool())
		case *taoloop.RunEvent_InputRequired:
			for _, field := range body.InputRequired.GetFields() {
				fmt.Println(event.GetSequence(), "asks for", field.GetPointer()) // ProvideInput answers
			}
		case *taoloop.RunEvent_Answer:
			fmt.Println(event.GetSequence(), "answers", body.Answer.GetText())
		case *taoloop.RunEvent_Finished:
			fmt.Println(event.GetSequence(), "ends", body.Finished.GetOutcome())
		}
	})
}

func main() {
	address := "127.0.0.1:7701"
	if len(os.Args) > 1 {
		address = os.Args[1]
	}
	if err := run(address); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
